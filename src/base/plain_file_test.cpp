#include "base/plain_file.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

namespace fs = std::filesystem;

class PlainFile : public testing::Test {
 protected:
  PlainFile() {
    std::string name = fs::temp_directory_path() / "plain-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~PlainFile() override { fs::remove_all(folder_); }

  void expect_refused(const fs::path& file, const std::string& why, std::size_t most = 100,
                      Links links = Links::followed) {
    try {
      plain_text(file, most, links);
      FAIL() << "'" << file << "' was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault, Fault::input);
      EXPECT_THAT(error.what(), testing::HasSubstr(file.string()));
      EXPECT_THAT(error.what(), testing::HasSubstr(why));
    }
  }

  fs::path folder_;
};

TEST_F(PlainFile, IsReadWholeUpToABound) {
  const fs::path file = folder_ / "file";
  const std::string text = std::string(200'000, 'x') + '\0' + "end";
  std::ofstream(file, std::ios::binary) << text;
  EXPECT_EQ(plain_text(file, text.size()), text);
  expect_refused(file, "more than 200003 bytes", text.size() - 1);
  std::ofstream(folder_ / "empty");
  EXPECT_EQ(plain_text(folder_ / "empty", 0), "");
}

TEST_F(PlainFile, OfAnotherKindIsNotWaitedFor) {
  const fs::path fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  expect_refused(fifo, "no plain file");
  expect_refused(folder_, "directory");
  expect_refused(folder_ / "none", "No such file");
  fs::create_symlink("/dev/zero", folder_ / "endless");
  expect_refused(folder_ / "endless", "no plain file");
}

TEST_F(PlainFile, ALinkIsFollowedIfWanted) {
  std::ofstream(folder_ / "file") << "text";
  fs::create_symlink("file", folder_ / "link");
  EXPECT_EQ(plain_text(folder_ / "link", 100), "text");
  expect_refused(folder_ / "link", "it is a link", 100, Links::refused);
}

}  // namespace
}  // namespace parajoule::base
