#include "train/checkpoint_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/seed.h"
#include "train/checkpoint_table.h"
#include "train/failing_disk.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Of the sanitizers' public interface, whose header Debian's g++ does not bring.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace parajoule::train {
namespace {

namespace fs = std::filesystem;
using base::Archive;
using testing::AllOf;
using testing::HasSubstr;

/// A folder that is gone at the end of the test.
class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() {
    std::string pattern = fs::temp_directory_path() / "checkpoint-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~CheckpointFile() override {
    failing_disk::heal();
    fs::remove_all(folder_);
  }
  fs::path file(std::string_view name = "1.ckpt") const { return folder_ / name; }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  fs::path folder_;
};

/// One of every kind of entry, of sizes that leave all kinds of gaps.
Archive made_up(std::uint64_t seed, std::size_t floats = 1000) {
  base::Stream random{seed};
  std::vector<float> weights(floats);
  for (float& weight : weights) weight = float(random.normal());
  std::vector<double> moments(random.below(50));
  for (double& moment : moments) moment = random.normal();
  std::vector<std::byte> bits(random.below(100));
  for (std::byte& bit : bits) bit = std::byte(random.below(256));
  Archive archive;
  archive.put("weights", base::Vector(std::span(weights)), {std::int64_t(floats) / 4, 2, 2});
  archive.put("optimizer.moments", base::Vector(std::span(moments)));
  archive.put("bits", base::Vector(std::span(bits)));
  archive.put("step", std::int64_t(seed));
  archive.put("rate", random.uniform());
  archive.put("strategy", std::string_view("local_sgd"));
  archive.put("empty", base::Vector(std::span(bits).first(0)), {0, 7});
  archive.put("no name is too odd: \xc3\xa4", std::int64_t(-1));
  return archive;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string refused(const fs::path& path, base::Fault fault = base::Fault::input) {
  try {
    (void)read_archive(path);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, fault) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(path.string()));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    EXPECT_THROW((void)verify_archive(path), base::Error);
    return error.what();
  }
  return "read without an error";
}

TEST_F(CheckpointFile, GivesBackWhatWasWritten) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Archive archive = made_up(seed, 4 * seed);
    const Written written = write_archive(file(), archive);
    EXPECT_EQ(read_archive(file()).entries(), archive.entries());
    EXPECT_EQ(verify_archive(file()), written);
    EXPECT_EQ(fs::file_size(file()), written.bytes);
    // The checksum by a second way: of all bytes but the four that hold it.
    const std::string bytes = bytes_of(file());
    const auto all = std::as_bytes(std::span(bytes));
    EXPECT_EQ(checksum_of(all.first(all.size() - 4)), written.checksum);
    EXPECT_EQ(std::memcmp(bytes.data() + bytes.size() - 4, &written.checksum, 4), 0);
  }
  write_archive(file(), {});
  EXPECT_TRUE(read_archive(file()).entries().empty());
  EXPECT_THAT(names(), testing::ElementsAre("1.ckpt"));
}

// The example of docs/checkpoint.md, byte by byte: files written once are readable for ever.
TEST_F(CheckpointFile, HasTheBytesOfItsPage) {
  using namespace std::string_view_literals;
  const std::int64_t step = 7;
  Archive archive;
  archive.put("step", step);
  write_archive(file(), archive);
  const std::string_view expected =
      "\x89PJC\r\n\x1a\n"
      "\x01\0\0\0"          // version
      "\x01\0\0\0"          // entries
      "\x8c\0\0\0\0\0\0\0"  // bytes of the file: 140
      "\x24\0\0\0\0\0\0\0"  // bytes of the table: 36
      "TTTTHHHH"            // their checksums
      "\x04\0step\x04\x01"  // length of the name, name, int64, one extent
      "\x01\0\0\0\0\0\0\0"  // the extent
      "\x80\0\0\0\0\0\0\0"  // offset: 128
      "\x08\0\0\0\0\0\0\0"  // bytes
      "CCCC"                // checksum of the entry
      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
      "\0\0"
      "\0\0\0\0"            // to a multiple of 64
      "\x07\0\0\0\0\0\0\0"  // the entry
      "WWWW"sv;             // checksum of all before
  std::string bytes = bytes_of(file());
  ASSERT_EQ(bytes.size(), 140);
  bytes.replace(32, 8, "TTTTHHHH").replace(72, 4, "CCCC").replace(136, 4, "WWWW");
  EXPECT_EQ(bytes, expected);
}

TEST_F(CheckpointFile, IsOnDiskBeforeItHasItsName) {
  failing_disk::heal();
  write_archive(file(), made_up(1));
  EXPECT_THAT(failing_disk::calls(), testing::ElementsAre("write", "fsync", "rename", "fsync"));
}

TEST_F(CheckpointFile, EveryCutIsNoticed) {
  const std::uint64_t whole = write_archive(file(), made_up(3, 16)).bytes;
  std::ofstream(file(), std::ios::app) << "x";
  EXPECT_THAT(refused(file()), HasSubstr("longer than it was"));
  for (std::uint64_t size = whole; size-- > 0;) {
    fs::resize_file(file(), size);
    const std::string line = refused(file());
    EXPECT_THAT(line, HasSubstr("is cut short"));
    if (size < Header::bytes) continue;
    EXPECT_THAT(line, HasSubstr(std::to_string(whole) + " -> " + std::to_string(size)));
  }
}

TEST_F(CheckpointFile, EveryFlippedBitIsNoticed) {
  write_archive(file(), made_up(4, 8));
  std::fstream bytes(file(), std::ios::binary | std::ios::in | std::ios::out);
  const std::string whole = bytes_of(file());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    const char right = whole[bit / 8];
    bytes.seekp(std::streamoff(bit / 8)).put(char(right ^ (1 << (bit % 8)))).flush();
    EXPECT_NE(refused(file()), "read without an error") << "bit " << bit;
    bytes.seekp(std::streamoff(bit / 8)).put(right);
  }
  bytes.flush();
  EXPECT_EQ(read_archive(file()).entries(), made_up(4, 8).entries());
}

TEST_F(CheckpointFile, SaysWhatAForeignFileIs) {
  using namespace std::string_view_literals;
  const std::pair<std::string_view, std::string_view> foreign[] = {
      {"PK\x03\x04\0\0\x08\x08"sv, "is a Python state_dict (zip), not a checkpoint of ours"},
      {"\x80\x02}q\0."sv, "Python pickle"},
      {"\x89HDF\r\n\x1a\n"sv, "HDF5"},
      {"SQLite format 3\0"sv, "SQLite"},
      {"\x89PJC\n\x1a\n\x01\0\0\0\x01\0"sv, "line ends were changed"},
      {"hello, world"sv, "something else"},
      {"\0\0\0\0\0\0\0\0\0\0\0\0"sv, "all zeros"},
  };
  for (const auto& [bytes, kind] : foreign) {
    write_bytes(file(), bytes);
    EXPECT_THAT(refused(file()), HasSubstr(kind));
  }
  write_bytes(file(), "");
  EXPECT_THAT(refused(file()), HasSubstr("is cut short (0 bytes)"));
}

TEST_F(CheckpointFile, RefusesANewerVersion) {
  write_archive(file(), made_up(5));
  std::string bytes = bytes_of(file());
  bytes[8] = 2;
  const std::uint32_t checksum = checksum_of(std::as_bytes(std::span(bytes)).first(36));
  std::memcpy(bytes.data() + 36, &checksum, sizeof checksum);
  write_bytes(file(), bytes);
  EXPECT_THAT(refused(file()), AllOf(HasSubstr("version 2"), HasSubstr("version 1")));
}

TEST_F(CheckpointFile, SaysWhatCannotBeRead) {
  EXPECT_THAT(refused(file("missing.ckpt")), HasSubstr("No such file"));
  fs::create_directory(file("folder.ckpt"));
  EXPECT_THAT(refused(file("folder.ckpt"), base::Fault::environment), HasSubstr("directory"));
}

/// How a child ends that does `work`.
int status_of(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(CheckpointFile, AKilledWriterLeavesTheOldFileOrTheNew) {
  const Archive old = made_up(6);
  const Archive fresh = made_up(7);
  failing_disk::heal();
  write_archive(file(), fresh);
  const std::int64_t length = failing_disk::ticks();
  ASSERT_GT(length, 4000);
  base::Stream random{8};
  int killed = 0;
  for (int round = 0; round < 60; ++round) {
    // Fifty moments anywhere, and the last ten one by one.
    const std::int64_t at = round < 50 ? std::int64_t(random.below(length)) : length - (round - 49);
    write_archive(file(), old);
    const int status = status_of([&] {
      failing_disk::kill_at(at);
      write_archive(file(), fresh);
    });
    killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    const auto found = read_archive(file()).entries();
    EXPECT_TRUE(found == old.entries() || found == fresh.entries()) << "killed at " << at;
  }
  EXPECT_EQ(killed, 60);
  write_archive(file(), fresh);  // takes the place of what the killed one left
  EXPECT_THAT(names(), testing::ElementsAre("1.ckpt"));
}

TEST_F(CheckpointFile, AFullDiskLeavesTheOldFileAlone) {
  const Archive old = made_up(9);
  write_archive(file(), old);
  const std::int64_t length = std::int64_t(fs::file_size(file()));
  for (const auto& [code, words] : {std::pair(ENOSPC, "No space left"),
                                    {EDQUOT, "quota"},
                                    {EFBIG, "too large"},
                                    {EIO, "Input/output error"}}) {
    for (std::int64_t at : {std::int64_t(0), std::int64_t(1), length / 2, length - 1}) {
      failing_disk::fill_at(at, code);
      try {
        write_archive(file(), made_up(10));
        ADD_FAILURE() << "written though full at " << at;
      } catch (const base::Error& error) {
        EXPECT_EQ(error.fault, base::Fault::environment);
        EXPECT_THAT(error.what(), AllOf(HasSubstr(file().string()), HasSubstr(words),
                                        HasSubstr(" bytes)"), HasSubstr("free")));
      }
      failing_disk::heal();
      EXPECT_EQ(read_archive(file()).entries(), old.entries());
      EXPECT_THAT(names(), testing::ElementsAre("1.ckpt"));
    }
  }
}

TEST_F(CheckpointFile, ARealLimitIsAnErrorToo) {
  const int status = status_of([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_archive(file(), made_up(11));
    } catch (const base::Error& error) {
      _exit(error.fault == base::Fault::environment && names().empty() ? 42 : 43);
    }
  });
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

TEST_F(CheckpointFile, NoFolderIsTheMachinesFault) {
  try {
    write_archive(file("missing/1.ckpt"), made_up(12));
    FAIL() << "written";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), HasSubstr("No such file"));
  }
}

/// Bytes handed out and not given back; what a sanitizer keeps of freed memory is not counted.
std::int64_t allocated_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return std::int64_t(__sanitizer_get_current_allocated_bytes());
#else
  const struct mallinfo2 info = mallinfo2();
  return std::int64_t(info.uordblks) + std::int64_t(info.hblkhd);
#endif
}

TEST_F(CheckpointFile, LoadsAThousandTimesInTheSameMemory) {
  write_archive(file(), made_up(13, 25000));
  (void)read_archive(file());
  const std::int64_t before = allocated_bytes();
  for (int round = 0; round < 1000; ++round) (void)read_archive(file());
  EXPECT_LT(allocated_bytes() - before, 100000);  // a leak would be a thousand times 100 kB
}

// A table that claims terabytes must not be believed.
TEST_F(CheckpointFile, TakesNoMoreMemoryThanTheFileIsLong) {
  Table table = Table::of(made_up(14));
  table.file_bytes = std::uint64_t(1) << 42;
  const auto front = table.encoded();
  write_bytes(file(), {reinterpret_cast<const char*>(front.data()), front.size()});
  EXPECT_THAT(refused(file()), HasSubstr("is cut short"));
}

}  // namespace
}  // namespace parajoule::train
