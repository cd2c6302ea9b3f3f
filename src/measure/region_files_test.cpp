#include "measure/region_files.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/test_record.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

store::Phase region(std::string name, double begin, double end) {
  return {.rank = 3, .name = std::move(name), .begin = Seconds(begin), .end = Seconds(end)};
}

TEST(Regions, NestAndOverlap) {
  const ToldRegions told = regions_in(
      "B 1 10.5 outer\nB 2 11.25 inner\nE 2 12.000000001\nB 7 12 inner\nE 1 13\nE 7 14\n", 3,
      Seconds(99));
  EXPECT_THAT(told.phases,
              ElementsAre(region("outer", 10.5, 13), region("inner", 11.25, 12.000000001),
                          region("inner", 12, 14)));
  EXPECT_EQ(told.open, 0);
  EXPECT_EQ(told.misread, 0);
}

TEST(Regions, NamesHoldAnyBytes) {
  const ToldRegions told = regions_in("B 1 1 a b%0A%25%2c%FF%zz%4\nE 1 2\n", 3, Seconds(9));
  EXPECT_THAT(told.phases, ElementsAre(region("a b\n%,\xff%zz%4", 1, 2)));
}

TEST(Regions, OfAProcessThatDiedEndWithTheCommand) {
  const ToldRegions told = regions_in("B 1 1 a\nB 2 2 b\nE 2 3\nE 1 4", 3, Seconds(9));
  EXPECT_THAT(told.phases, ElementsAre(region("a", 1, 9), region("b", 2, 3)));
  EXPECT_EQ(told.open, 1) << "the last line is torn";
  EXPECT_EQ(told.misread, 0);
}

TEST(Regions, NonsenseIsCounted) {
  const ToldRegions told = regions_in(
      "\nB\nB 1\nB 1 x name\nE 5 1\nX 1 2\nB 1 nan n\nB 1 1e5 n\nB 1 2 n\nE 1 1\n", 3, Seconds(9));
  EXPECT_THAT(told.phases, ElementsAre(region("n", 2, 9))) << "none ends before it begins";
  EXPECT_EQ(told.misread, 9);
}

TEST(RegionFiles, AreReadByProcessAndGoWithTheirOwner) {
  std::filesystem::path folder;
  {
    RegionFiles files = RegionFiles::make();
    folder = files.environment().at("PARAJOULE_REGIONS");
    const auto start = std::chrono::steady_clock::now() - std::chrono::seconds(5);
    const double origin = Seconds(start.time_since_epoch()).count();
    std::ofstream(folder / "12") << std::fixed << "B 1 " << origin + 1 << " a\nE 1 " << origin + 2
                                 << "\n";
    std::ofstream(folder / "7") << std::fixed << "B 1 " << origin + 3 << " b\n";
    const std::vector<store::Phase> phases = files.phases(start);
    ASSERT_THAT(phases, SizeIs(2));
    EXPECT_NE(phases[0].rank, phases[1].rank);
    EXPECT_NEAR(phases[0].begin.count(), 1, 1e-5);
    EXPECT_NEAR(phases[0].end.count(), 2, 1e-5);
    EXPECT_GE(phases[1].end.count(), 5);
    EXPECT_THAT(files.troubles(), SizeIs(1));
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(RegionFiles, OfAnotherKindAreToldAndNotWaitedFor) {
  RegionFiles files = RegionFiles::make();
  const std::filesystem::path folder = files.environment().at("PARAJOULE_REGIONS");
  ASSERT_EQ(mkfifo((folder / "1").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder / "2");
  std::ofstream(folder / "3") << "B 1 1 a\nE 1 2\n";
  EXPECT_THAT(files.phases(std::chrono::steady_clock::now()), SizeIs(1));
  EXPECT_THAT(files.troubles(),
              ElementsAre(testing::HasSubstr("no plain file"), testing::HasSubstr("it is a link")));
}

TEST(RegionFiles, OfAnOwnerThatWasKilledGoWithTheNext) {
  const store::TemporaryFolder memory;
  const RegionFiles living = RegionFiles::make(memory.path());
  const pid_t owner = fork();
  if (owner == 0) {
    const RegionFiles files = RegionFiles::make(memory.path());
    kill(getpid(), SIGKILL);
  }
  waitpid(owner, nullptr, 0);
  EXPECT_THAT(memory.names(), SizeIs(2));
  const RegionFiles next = RegionFiles::make(memory.path());
  EXPECT_THAT(memory.names(), SizeIs(2));
  EXPECT_TRUE(std::filesystem::exists(living.environment().at("PARAJOULE_REGIONS")));
}

TEST(RegionFiles, WithoutAFolderThereAreNone) {
  RegionFiles files;
  EXPECT_THAT(files.environment(), IsEmpty());
  EXPECT_THAT(files.phases(std::chrono::steady_clock::now()), IsEmpty());
}

}  // namespace
}  // namespace parajoule::measure
