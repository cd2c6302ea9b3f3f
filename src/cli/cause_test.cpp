#include "cli/cause.h"

#include <filesystem>
#include <stdexcept>

#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

template <class Error>
Cause of(const Error& error) {
  return cause_of(std::make_exception_ptr(error));
}

TEST(Cause, AnErrorOfOursKeepsItsFaultOnOneLine) {
  const Cause cause = of(base::Error(base::Fault::input, "a name\nof two lines"));
  EXPECT_EQ(cause.fault, base::Fault::input);
  EXPECT_EQ(cause.text, "a name of two lines");
}

TEST(Cause, ADiskIsTheMachine) {
  const Cause cause = of(std::filesystem::filesystem_error(
      "cannot open", "records", std::make_error_code(std::errc::too_many_symbolic_link_levels)));
  EXPECT_EQ(cause.fault, base::Fault::environment);
  EXPECT_NE(cause.text.find("records"), std::string::npos);
}

TEST(Cause, NoMemoryIsTheMachine) {
  EXPECT_EQ(of(std::bad_alloc()).fault, base::Fault::environment);
  const Cause cause = of(
      std::runtime_error("[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate "
                         "memory: you tried to allocate 4000 bytes. Error code 12\n"
                         "frame #0: <unknown function>"));
  EXPECT_EQ(cause.fault, base::Fault::environment);
  EXPECT_EQ(cause.text,
            "out of memory: 4000 bytes asked for at once; take a smaller model or batch");
}

TEST(Cause, TheRestIsABugWithoutItsStack) {
  const Cause cause = of(std::runtime_error(
      "sizes\ndo not match\nException raised from add at x.cpp:1\nframe #0: at::add"));
  EXPECT_EQ(cause.fault, base::Fault::bug);
  EXPECT_EQ(cause.text, "sizes do not match");
}

}  // namespace
}  // namespace parajoule::cli
