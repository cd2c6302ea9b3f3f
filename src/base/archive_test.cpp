#include "base/archive.h"

#include <functional>

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

std::string failure(const std::function<void()>& act, Fault fault) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault, fault);
    return error.what();
  }
  return "nothing failed";
}

TEST(Archive, GivesBackWhatWasPut) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  Archive archive;
  archive.put("weights", Vector(std::span(values)), {2, 3});
  archive.put("step", std::int64_t{-7});
  archive.put("rate", 0.1);
  archive.put("name", std::string_view("adam\n"));
  archive.put("nothing", std::string_view());
  std::vector<float> back(6);
  archive.get("weights", Vector(std::span(back)), {2, 3});
  EXPECT_EQ(back, values);
  EXPECT_EQ(archive.whole("step"), -7);
  EXPECT_EQ(archive.number("rate"), 0.1);
  EXPECT_EQ(archive.text("name"), "adam\n");
  EXPECT_EQ(archive.text("nothing"), "");
  EXPECT_TRUE(archive.holds("step"));
  EXPECT_FALSE(archive.holds("steps"));
}

TEST(Archive, GivesBackAsManyNumbersAsWerePut) {
  Archive archive;
  const std::vector<std::int64_t> some{3, -1, 1LL << 40};
  archive.put("some", std::span(some));
  archive.put("none", std::span<const std::int64_t>());
  archive.put("text", "12345678");
  EXPECT_EQ(archive.wholes("some"), some);
  EXPECT_TRUE(archive.wholes("none").empty());
  for (const char* wrong : {"missing", "text"})
    EXPECT_NE(failure([&] { archive.wholes(wrong); }, Fault::input).find(wrong), std::string::npos);
}

TEST(Archive, StoresACopy) {
  std::vector<float> values{1};
  Archive archive;
  archive.put("w", Vector(std::span(values)));
  values[0] = 2;
  std::vector<float> back(1);
  archive.get("w", Vector(std::span(back)));
  EXPECT_EQ(back[0], 1);
}

TEST(Archive, NamesWhatIsMissingOrDiffers) {
  std::vector<float> values(6);
  std::vector<double> wide(6, 3);
  Archive archive;
  archive.put("w", Vector(std::span(values)), {2, 3});
  const auto get = [&](std::string_view name, Vector to, std::vector<std::int64_t> shape) {
    return failure([&] { archive.get(name, to, shape); }, Fault::input);
  };
  EXPECT_EQ(get("v", Vector(std::span(values)), {}),
            "checkpoint: 'v' is missing; resume with the settings it was written with");
  EXPECT_EQ(get("w", Vector(std::span(values)), {3, 2}),
            "checkpoint: 'w' holds float32 [2, 3], wanted is float32 [3, 2]; resume with the "
            "settings it was written with");
  EXPECT_NE(get("w", Vector(std::span(wide)), {2, 3}).find("wanted is float64 [2, 3]"),
            std::string::npos);
  EXPECT_EQ(wide, std::vector<double>(6, 3));
  EXPECT_NE(failure([&] { archive.text("w"); }, Fault::input).find("text"), std::string::npos);
  EXPECT_NE(failure([&] { archive.whole("w"); }, Fault::input).find("int64 [1]"),
            std::string::npos);
}

TEST(Archive, AnEntryCutShortIsNoticed) {
  std::vector<float> values(6);
  Archive archive;
  archive.put("w", Vector(std::span(values)));
  archive.entries().at("w").bytes.resize(5);
  EXPECT_THROW(archive.get("w", Vector(std::span(values))), Error);
}

TEST(Archive, NestsAndTakesApart) {
  Archive inner;
  inner.put("a", std::int64_t{1});
  inner.put("b.c", std::int64_t{2});
  Archive outer;
  outer.put("innermost", std::int64_t{3});
  outer.nest("inner", inner);
  EXPECT_EQ(outer.whole("inner.b.c"), 2);
  EXPECT_EQ(outer.part("inner").entries(), inner.entries());
  EXPECT_TRUE(outer.part("inn").entries().empty());
  EXPECT_THROW(outer.nest("inner", inner), Error);
}

TEST(Archive, MisuseIsABug) {
  std::vector<float> values(6);
  Archive archive;
  archive.put("w", 1.0);
  EXPECT_NE(failure([&] { archive.put("w", 2.0); }, Fault::bug).find("'w' is stored once"),
            std::string::npos);
  failure([&] { archive.put("v", Vector(std::span(values)), {2, 2}); }, Fault::bug);
  EXPECT_THROW(archive.put("n", Vector(nullptr, 1, Element::byte, Place::nowhere)), Error);
}

}  // namespace
}  // namespace parajoule::base
