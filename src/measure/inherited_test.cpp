#include "measure/inherited.h"

#include <algorithm>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

bool passed_on(int file) { return (fcntl(file, F_GETFD) & FD_CLOEXEC) == 0; }

TEST(Inherited, FilesOpenedSinceReachNoCommand) {
  const int given = open("/dev/null", O_RDONLY);
  const int own = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const Inherited before = inherited();
  EXPECT_TRUE(std::ranges::binary_search(before.files, given));
  EXPECT_FALSE(std::ranges::binary_search(before.files, own));
  const int of_a_library = open("/dev/null", O_RDONLY);  // that does not think of programs
  keep_other_files(before);
  EXPECT_TRUE(passed_on(given));
  EXPECT_FALSE(passed_on(own));
  EXPECT_FALSE(passed_on(of_a_library));
  for (const int file : {given, own, of_a_library}) close(file);
}

}  // namespace
}  // namespace parajoule::measure
