#include "measure/gathering.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/keeper.h"
#include "store/test_record.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

Page example(int rank) {
  return {.rank = rank,
          .cores = {0, 2},
          .visible_devices = "0,1",
          .begin = Seconds(1.25),
          .end = Seconds(2.5),
          .status = 137,
          .cpu = Seconds(0.125),
          .remarks = {"a \"quoted\"\nremark"}};
}

TEST(Page, ComesBackAsItWasWritten) {
  EXPECT_THAT(page_in(written(example(3))), Optional(example(3)));
  EXPECT_THAT(page_in(written(Page{.rank = 1})), Optional(Page{.rank = 1}));
}

TEST(Page, TornIsNone) {
  const std::string text = written(example(3));
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_EQ(page_in(text.substr(0, length)), std::nullopt) << length;
  EXPECT_EQ(page_in("{\"rank\": \"x\"}"), std::nullopt);
}

TEST(Kept, ComesBackAsItWasWritten) {
  const auto kept = kept_in(written(Kept{.record = "/a/b.db", .troubles = {"no \xff space"}}));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->record, "/a/b.db");
  EXPECT_THAT(kept->troubles, SizeIs(1));
  EXPECT_EQ(kept_in("{"), std::nullopt);
}

class InAFolder : public testing::Test {
 protected:
  Gathering gathering(const std::string& job = "job", const std::string& boot = "boot") const {
    return Gathering(job, boot, folder_.path());
  }
  store::TemporaryFolder folder_;
};

TEST_F(InAFolder, JobsAndMachinesAreApart) {
  EXPECT_EQ(gathering().folder(), gathering().folder());
  EXPECT_NE(gathering().folder(), gathering("other").folder());
  EXPECT_NE(gathering().folder(), gathering("job", "other").folder());
}

TEST_F(InAFolder, OnlyItsUserMayLookIn) {
  const auto folder = gathering().folder();
  EXPECT_EQ(std::filesystem::status(folder).permissions(), std::filesystem::perms::owner_all);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  EXPECT_THROW(gathering(), base::Error) << "anyone could have made it";
  std::filesystem::remove(folder);
  std::filesystem::create_symlink("/", folder);
  EXPECT_THROW(gathering(), base::Error);
}

TEST_F(InAFolder, TasksReadEachOther) {
  const Gathering here = gathering();
  const Lock first = here.enter(example(1));
  const Lock other = here.enter(example(0));
  EXPECT_THAT(here.pages(), ElementsAre(example(0), example(1)));
  Page changed = example(1);
  changed.remarks.clear();
  here.rewrite(first, changed);
  EXPECT_THAT(here.pages(), ElementsAre(example(0), changed));
}

TEST_F(InAFolder, ATaskThatDiedHoldsNothing) {
  const Gathering here = gathering();
  const pid_t task = fork();
  if (task == 0) {
    const Lock seat = here.enter(example(2));
    kill(getpid(), SIGKILL);
  }
  waitpid(task, nullptr, 0);
  ASSERT_THAT(here.files(), SizeIs(1));
  EXPECT_FALSE(held(here.files()[0]));
  wait_until_free(here.files()[0]);
  here.clear();
  EXPECT_THAT(here.files(), IsEmpty());
}

TEST_F(InAFolder, ClearingLeavesThoseWhoLive) {
  const Gathering here = gathering();
  const Lock seat = here.enter(example(2));
  { const Lock gone = here.enter(example(3)); }
  std::ofstream(here.ready()) << "of an earlier life";
  here.clear();
  EXPECT_THAT(here.pages(), ElementsAre(example(2)));
  EXPECT_FALSE(std::filesystem::exists(here.ready()));
}

TEST_F(InAFolder, ALockIsHeldByOne) {
  const auto file = gathering().meter_lock();
  EXPECT_FALSE(held(file));
  {
    const auto lock = Lock::take(file);
    ASSERT_TRUE(lock);
    EXPECT_TRUE(held(file));
    EXPECT_FALSE(Lock::take(file));
  }
  EXPECT_FALSE(held(file));
  EXPECT_TRUE(Lock::take(file));
}

}  // namespace
}  // namespace parajoule::measure
