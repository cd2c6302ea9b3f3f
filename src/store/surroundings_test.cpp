// What a record must know of where it is: the file system, the process, names for files.

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "store/file_name.h"
#include "store/file_system.h"
#include "store/process.h"
#include "store/test_record.h"

namespace parajoule::store {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

TEST(FileSystem, OfANetworkHasNoSharedMemory) {
  const struct {
    long f_type;
    const char* name;
  } network[] = {{0x6969, "nfs"},        {0x0BD00BD0, "lustre"}, {0x47504653, "gpfs"},
                 {0x19830326, "beegfs"}, {0x65735546, "fuse"},   {0xFF534D42, "cifs"},
                 {0xFE534D42, "smb2"},   {0x01021997, "9p"},     {0x00C36400, "ceph"}};
  for (const auto& [f_type, name] : network) {
    EXPECT_EQ(file_system_of_type(f_type).name, name);
    EXPECT_FALSE(file_system_of_type(f_type).shared_memory) << name;
  }
}

TEST(FileSystem, OfADiskHere) {
  for (const long f_type : {0xEF53L, 0x58465342L, 0x9123683EL, 0x01021994L, 0x794C7630L})
    EXPECT_TRUE(file_system_of_type(f_type).shared_memory);
}

TEST(FileSystem, WithATypeOfNegativeSignIsTheSameOne) {
  EXPECT_EQ(file_system_of_type(long(int(0xFF534D42))).name, "cifs");
}

TEST(FileSystem, ThatIsUnknownIsNotTrusted) {
  const FileSystem unknown = file_system_of_type(0x12345);
  EXPECT_FALSE(unknown.shared_memory);
  EXPECT_EQ(unknown.name, "unknown (type 0x12345)");
}

TEST(FileSystem, OfAFolderThatIsNotThereIsAnError) {
  try {
    file_system("/no/such/folder");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), HasSubstr("'/no/such/folder'"));
  }
}

TEST(FileSystem, IsLookedAtWithoutLeavingAnything) {
  const TemporaryFolder folder;
  EXPECT_TRUE(file_system(folder.path()).locks);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Process, LivesUntilItEnds) {
  EXPECT_EQ(life_of(this_process()), Life::alive);
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string name = this_process();
    _exit(write(told[1], name.data(), name.size()) == ssize_t(name.size()) ? 0 : 1);
  }
  char name[200];
  const ssize_t length = read(told[0], name, sizeof name);
  ASSERT_GT(length, 0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(life_of(std::string_view(name, std::size_t(length))), Life::gone);
  close(told[0]);
  close(told[1]);
}

TEST(Process, WithTheSameNumberIsAnotherOneIfItBeganLater) {
  std::string earlier = this_process();
  earlier.back() = earlier.back() == '0' ? '1' : '0';
  EXPECT_EQ(life_of(earlier), Life::gone);
}

TEST(Process, OfAnotherMachineOrContainerCannotBeTold) {
  std::string name = this_process();
  const std::string rest = name.substr(name.find('/'));
  EXPECT_EQ(life_of("another" + rest), Life::elsewhere);
  name.replace(name.find("pid:["), 5, "pid:[1");
  EXPECT_EQ(life_of(name), Life::elsewhere);
  EXPECT_EQ(life_of(""), Life::elsewhere);
  const std::string here = this_process().substr(0, this_process().find("]/") + 2);
  for (const char* number : {"", "-1", "12x/1", "99999999999999999999/1"})
    EXPECT_EQ(life_of(here + number), Life::elsewhere) << number;
}

TEST(Id, IsEightLettersThatDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    EXPECT_THAT(id, MatchesRegex("[a-z]{8}"));
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 1000u);
}

TEST(FileName, SortsByTheStartAndHoldsNoPath) {
  const std::string start = "2025-11-30T10:11:12.123Z";
  EXPECT_EQ(file_name(start, "resnet-50", "abcdefgh"), "20251130T101112Z-resnet-50-abcdefgh.db");
  EXPECT_EQ(file_name(start, "../a b\n\xff", "abcdefgh"), "20251130T101112Z-.._a_b__-abcdefgh.db");
  EXPECT_EQ(file_name(start, "", "abcdefgh"), "20251130T101112Z-run-abcdefgh.db");
  EXPECT_LT(file_name(start, std::string(5000, 'x'), "abcdefgh").size(), 100u);
}

TEST(TemporaryFiles, LieInTmpdirOrElseWhereTheyUsuallyDo) {
  const char* before = getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_EQ(temporary_folder(), "/tmp");
  EXPECT_THAT(unusable_tmpdir(), testing::HasSubstr("'/no/such/folder'"));
  setenv("TMPDIR", "/proc/self/status", 1);
  EXPECT_THAT(unusable_tmpdir(), testing::HasSubstr("Not a directory"));
  const TemporaryFolder folder;
  setenv("TMPDIR", folder.path().c_str(), 1);
  EXPECT_EQ(temporary_folder(), folder.path());
  EXPECT_EQ(unusable_tmpdir(), "");
  EXPECT_THAT(temporary_folders(),
              testing::IsSupersetOf<std::filesystem::path>({folder.path(), "/tmp", "/dev/shm"}));
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}

TEST(Moment, IsWrittenInUtcWithMilliseconds) {
  using namespace std::chrono;
  EXPECT_EQ(written_utc(system_clock::time_point(milliseconds(1764497472123))),
            "2025-11-30T10:11:12.123Z");
  EXPECT_EQ(written_utc(system_clock::time_point(milliseconds(-1))), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace parajoule::store
