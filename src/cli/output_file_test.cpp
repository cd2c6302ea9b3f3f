#include "cli/output_file.h"

#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

template <class Write>
std::string why_not(Write&& write) {
  try {
    write();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    return error.what();
  }
  ADD_FAILURE() << "it was written";
  return {};
}

TEST(OutputFile, ThatIsReplacedIsReplacedAsAWholeAndLeavesNoOther) {
  const store::TemporaryFolder folder;
  const fs::path file = folder.path() / "parajoule.prom";
  write_atomically(file, "first\n");
  std::ifstream reader(file);
  write_atomically(file, "second\n");
  std::string line;
  std::getline(reader, line);  // whoever has it open still reads the former one
  EXPECT_EQ(line, "first");
  EXPECT_EQ(content(file), "second\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(fs::status(file).permissions() & fs::perms::mask, fs::perms(0644));
}

TEST(OutputFile, ThatCannotBeWrittenIsNamed) {
  const std::string file = "/no/such/folder/x.prom";
  EXPECT_THAT(why_not([&] { write_atomically(file, "text"); }), HasSubstr(file));
  EXPECT_THAT(why_not([&] { write_file(file, "text"); }), HasSubstr(file));
}

TEST(OutputFile, BehindLinksIsReplacedAndTheLinksStay) {
  const store::TemporaryFolder folder;
  fs::create_directory(folder.path() / "far");
  fs::create_symlink("far/near", folder.path() / "link");
  fs::create_symlink("file", folder.path() / "far" / "near");
  for (const char* text : {"to nothing yet\n", "to a file\n"}) {
    write_atomically(folder.path() / "link", text);
    EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
    EXPECT_TRUE(fs::is_symlink(folder.path() / "far" / "near"));
    EXPECT_EQ(content(folder.path() / "far" / "file"), text);
  }
  fs::create_symlink("round", folder.path() / "round");
  EXPECT_THAT(why_not([&] { write_atomically(folder.path() / "round", ""); }), HasSubstr("round"));
}

TEST(OutputFile, ThatIsAFifoStaysOneAndIsNotWaitedFor) {
  const store::TemporaryFolder folder;
  const fs::path fifo = folder.path() / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto write : {write_file, write_atomically}) {
    EXPECT_THAT(why_not([&] { write(fifo, "text\n"); }), HasSubstr("nobody reads it"));
    EXPECT_THAT(why_not([&] { write(folder.path(), "text\n"); }), HasSubstr("directory"));
    const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    write(fifo, "text\n");
    char text[16]{};
    EXPECT_EQ(read(reader, text, sizeof text), 5);
    EXPECT_STREQ(text, "text\n");
    close(reader);
    EXPECT_TRUE(fs::is_fifo(fifo));
  }
}

TEST(OutputFile, ThatIsADeviceStaysOne) {
  const store::TemporaryFolder folder;
  const fs::path nothing = folder.path() / "nothing";
  if (mknod(nothing.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0)
    GTEST_SKIP() << "only root makes devices";
  const int file = open(nothing.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) GTEST_SKIP() << "the folder is on a file system without devices";
  close(file);
  write_atomically(nothing, "text\n");
  EXPECT_TRUE(fs::is_character_file(nothing));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace parajoule::cli
