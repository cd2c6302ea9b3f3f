#include "train/checkpoint.h"

#include <cerrno>
#include <fstream>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/seed.h"
#include "comm/solo.h"
#include "comm/threads.h"
#include "train/failing_disk.h"

namespace parajoule::train {
namespace {

namespace fs = std::filesystem;
using base::Archive;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CheckpointFolder : public testing::Test {
 protected:
  CheckpointFolder() {
    std::string pattern = fs::temp_directory_path() / "checkpoints-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~CheckpointFolder() override {
    failing_disk::heal();
    fs::remove_all(folder_);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  fs::path folder_;
};

Archive state(std::int64_t number, std::string_view whose) {
  std::vector<float> weights(500);
  base::Stream random{std::uint64_t(number), std::uint64_t(whose.size())};
  for (float& weight : weights) weight = float(random.normal());
  Archive archive;
  archive.put("whose", whose);
  archive.put("number", number);
  archive.put("weights", base::Vector(std::span(weights)));
  return archive;
}

Archive own_state(std::int64_t number, int rank) {
  return state(number, "rank " + std::string(std::size_t(rank), '|'));
}

Checkpoint of_one(std::int64_t number) {
  return {.number = number, .shared = state(number, "all"), .own = {}};
}

Checkpoint of_many(std::int64_t number, int rank) {
  return {.number = number, .shared = state(number, "all"), .own = own_state(number, rank)};
}

void flip_a_bit(const fs::path& file) {
  std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
  const auto middle = std::streamoff(fs::file_size(file) / 2);
  bytes.seekg(middle);
  const char right = char(bytes.get());
  bytes.seekp(middle).put(char(right ^ 1));
}

TEST_F(CheckpointFolder, IsMadeAndEmptyAtFirst) {
  comm::Solo world;
  Checkpoints checkpoints(folder_ / "a" / "b", world);
  EXPECT_FALSE(checkpoints.restore());
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b"));
}

TEST_F(CheckpointFolder, CannotBeAFile) {
  std::ofstream(folder_ / "file") << "x";
  comm::Solo world;
  try {
    Checkpoints(folder_ / "file" / "checkpoints", world);
    FAIL() << "made";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), HasSubstr("checkpoints"));
  }
}

TEST_F(CheckpointFolder, GivesBackTheNewestAndKeepsTwo) {
  comm::Solo world;
  {
    Checkpoints checkpoints(folder_, world);
    // 9 and 10: numbers, not words, decide what is newest.
    for (std::int64_t number : {0, 8, 9, 10}) checkpoints.save(of_one(number));
  }
  EXPECT_THAT(names(), UnorderedElementsAre("9.ckpt", "10.ckpt"));
  Checkpoints checkpoints(folder_, world);
  const auto restored = checkpoints.restore();
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->checkpoint.number, 10);
  EXPECT_EQ(restored->checkpoint.shared.entries(), state(10, "all").entries());
  EXPECT_FALSE(restored->checkpoint.own);
  EXPECT_EQ(restored->ranks_with_own, 0);
  EXPECT_THAT(restored->skipped, IsEmpty());
}

TEST_F(CheckpointFolder, GivesEachRankItsOwn) {
  comm::Threads(3).run([&](comm::Communicator& world) {
    Checkpoints checkpoints(folder_, world);
    for (std::int64_t number : {1, 2, 3}) checkpoints.save(of_many(number, world.rank()));
  });
  EXPECT_THAT(names(),
              UnorderedElementsAre("2.ckpt", "2.rank0.ckpt", "2.rank1.ckpt", "2.rank2.ckpt",
                                   "3.ckpt", "3.rank0.ckpt", "3.rank1.ckpt", "3.rank2.ckpt"));
  for (int ranks : {1, 3, 5}) {
    comm::Threads(ranks).run([&](comm::Communicator& world) {
      Checkpoints checkpoints(folder_, world);
      const auto restored = checkpoints.restore();
      ASSERT_TRUE(restored);
      EXPECT_EQ(restored->checkpoint.number, 3);
      EXPECT_EQ(restored->checkpoint.shared.entries(), state(3, "all").entries());
      EXPECT_EQ(restored->ranks_with_own, 3);
      ASSERT_EQ(restored->checkpoint.own.has_value(), world.rank() < 3);
      if (!restored->checkpoint.own) return;
      EXPECT_EQ(restored->checkpoint.own->entries(), own_state(3, world.rank()).entries());
    });
  }
}

TEST_F(CheckpointFolder, PassesOverADamagedSetAndSaysSo) {
  for (const std::string damaged : {"3.ckpt", "3.rank1.ckpt"}) {
    comm::Threads(2).run([&](comm::Communicator& world) {
      Checkpoints checkpoints(folder_, world);
      for (std::int64_t number : {2, 3}) checkpoints.save(of_many(number, world.rank()));
    });
    flip_a_bit(folder_ / damaged);
    comm::Threads(2).run([&](comm::Communicator& world) {
      Checkpoints checkpoints(folder_, world);
      const auto restored = checkpoints.restore();
      ASSERT_TRUE(restored);
      EXPECT_EQ(restored->checkpoint.number, 2);
      if (world.rank() == 0) {
        EXPECT_THAT(restored->skipped,
                    ElementsAre(AllOf(HasSubstr(damaged), HasSubstr("is damaged"))));
      }
      checkpoints.save(of_many(3, world.rank()));
      EXPECT_EQ(checkpoints.restore()->checkpoint.number, 3);
    });
    EXPECT_TRUE(fs::exists(folder_ / "3.ckpt.broken"));
    fs::remove_all(folder_);
  }
}

TEST_F(CheckpointFolder, PassesOverASetWithARanksFileMissingOrOfAnotherRun) {
  comm::Threads(2).run([&](comm::Communicator& world) {
    Checkpoints checkpoints(folder_, world);
    for (std::int64_t number : {2, 3}) checkpoints.save(of_many(number, world.rank()));
  });
  comm::Solo world;
  fs::copy_file(folder_ / "2.rank1.ckpt", folder_ / "3.rank1.ckpt",
                fs::copy_options::overwrite_existing);
  {
    Checkpoints checkpoints(folder_, world);
    const auto restored = checkpoints.restore();
    EXPECT_EQ(restored->checkpoint.number, 2);
    EXPECT_THAT(restored->skipped, ElementsAre(HasSubstr("is not the file that")));
  }
  fs::rename(folder_ / "3.ckpt.broken", folder_ / "3.ckpt");
  fs::remove(folder_ / "3.rank1.ckpt");
  Checkpoints checkpoints(folder_, world);
  const auto restored = checkpoints.restore();
  EXPECT_EQ(restored->checkpoint.number, 2);
  EXPECT_THAT(restored->skipped,
              ElementsAre(AllOf(HasSubstr("3.rank1.ckpt"), HasSubstr("No such file"))));
}

TEST_F(CheckpointFolder, DoesNotStartAnewInSilence) {
  {
    comm::Solo world;
    Checkpoints(folder_, world).save(of_one(5));
  }
  flip_a_bit(folder_ / "5.ckpt");
  for (int round = 0; round < 2; ++round) {  // and not the second time either
    std::mutex mutex;
    std::map<int, base::Fault> faults;
    comm::Threads(2).run([&](comm::Communicator& world) {
      Checkpoints checkpoints(folder_, world);
      try {
        (void)checkpoints.restore();
      } catch (const base::Error& error) {
        const std::lock_guard lock(mutex);
        faults.emplace(world.rank(), error.fault);
        if (world.rank() == 0) {
          EXPECT_THAT(error.what(), AllOf(HasSubstr("5.ckpt"), HasSubstr("start anew")));
        }
      }
    });
    EXPECT_THAT(faults, ElementsAre(testing::Pair(0, base::Fault::input),
                                    testing::Pair(1, base::Fault::peer)));
  }
}

TEST_F(CheckpointFolder, RefusesTheFolderOfAnotherRun) {
  comm::Solo world;
  Checkpoints(folder_, world).save(of_one(100));
  try {
    Checkpoints(folder_, world).save(of_one(5));
    FAIL() << "saved";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("checkpoint 100"), HasSubstr("this one, 5")));
  }
  EXPECT_THAT(names(), ElementsAre("100.ckpt"));
}

TEST_F(CheckpointFolder, DoesNotWriteOneStepTwice) {
  comm::Solo world;
  Checkpoints checkpoints(folder_, world);
  checkpoints.save(of_one(4));
  failing_disk::heal();
  checkpoints.save(of_one(4));
  EXPECT_THAT(failing_disk::calls(), IsEmpty());
  Checkpoints again(folder_, world);
  (void)again.restore();
  again.save(of_one(4));
  EXPECT_THAT(failing_disk::calls(), IsEmpty());
  again.save(of_one(5));
  EXPECT_THAT(failing_disk::calls(), testing::Not(IsEmpty()));
}

// All ranks share the disk of the test program, so only rank 0, which writes the shared file last,
// sees it full here: the parts of both are 2 x length.
TEST_F(CheckpointFolder, AFullDiskEndsTheSaveOnAllRanksAndLeavesTheOldOne) {
  comm::Threads(2).run([&](comm::Communicator& world) {
    Checkpoints checkpoints(folder_, world);
    checkpoints.save(of_many(1, world.rank()));
  });
  for (std::int64_t room : {0, 1000, 4000, 6000, 7000}) {
    failing_disk::fill_at(room, ENOSPC);
    std::mutex mutex;
    std::vector<base::Fault> faults;
    comm::Threads(2).run([&](comm::Communicator& world) {
      Checkpoints checkpoints(folder_, world);
      try {
        checkpoints.save(of_many(2, world.rank()));
      } catch (const base::Error& error) {
        const std::lock_guard lock(mutex);
        faults.push_back(error.fault);
      }
    });
    failing_disk::heal();
    EXPECT_EQ(faults.size(), 2) << room;
    EXPECT_THAT(faults, testing::Contains(base::Fault::environment));
    EXPECT_THAT(names(), UnorderedElementsAre("1.ckpt", "1.rank0.ckpt", "1.rank1.ckpt"));
  }
}

TEST_F(CheckpointFolder, AFailureBeforeTheCommitLeavesTheOldOne) {
  comm::Threads(2).run([&](comm::Communicator& world) {
    Checkpoints checkpoints(folder_, world);
    checkpoints.save(of_many(1, world.rank()));
    checkpoints.before_commit([] { throw base::Error(base::Fault::bug, "asked for"); });
    EXPECT_THROW(checkpoints.save(of_many(2, world.rank())), base::Error);
    EXPECT_EQ(checkpoints.restore()->checkpoint.number, 1);
  });
  EXPECT_THAT(names(), UnorderedElementsAre("1.ckpt", "1.rank0.ckpt", "1.rank1.ckpt"));
}

// Saves the checkpoint `number` with a part of its own, killed at `tick` of its disk, or never.
int status_of_save(const fs::path& folder, std::int64_t number, std::int64_t tick) {
  const pid_t child = fork();
  if (child == 0) {
    comm::Solo world;
    Checkpoints checkpoints(folder, world);
    failing_disk::kill_at(tick);
    checkpoints.save(of_many(number, 0));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(CheckpointFolder, AKilledRunFindsTheOldSetOrTheNew) {
  comm::Solo world;
  std::int64_t number = 2;
  {
    Checkpoints checkpoints(folder_, world);
    for (std::int64_t first : {1, 2}) checkpoints.save(of_many(first, 0));
  }
  failing_disk::heal();
  Checkpoints(folder_, world).save(of_many(++number, 0));
  const std::int64_t length = failing_disk::ticks();
  base::Stream random{1};
  for (int round = 0; round < 60; ++round) {
    // Fifty moments anywhere, and the last ten one by one: the removal of the old set.
    const std::int64_t at =
        round < 50 ? std::int64_t(random.below(std::uint64_t(length))) : length - (round - 49);
    const int status = status_of_save(folder_, number + 1, at);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << at;
    Checkpoints checkpoints(folder_, world);
    const auto restored = checkpoints.restore();
    ASSERT_TRUE(restored) << at;
    const std::int64_t found = restored->checkpoint.number;
    EXPECT_TRUE(found == number || found == number + 1) << found << " after " << number;
    EXPECT_EQ(restored->checkpoint.shared.entries(), state(found, "all").entries());
    EXPECT_EQ(restored->checkpoint.own->entries(), own_state(found, 0).entries());
    EXPECT_THAT(restored->skipped, IsEmpty());
    number = found;
  }
  Checkpoints checkpoints(folder_, world);
  for (int more = 0; more < 2; ++more) checkpoints.save(of_many(++number, 0));
  EXPECT_EQ(names().size(), 4) << "what killed runs have left is removed";
}

}  // namespace
}  // namespace parajoule::train
