// Ranks that are processes and share memory through files, without MPI: what a rank that is killed
// leaves behind, and who notices.

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/bodies_test.h"
#include "comm/group.h"
#include "comm/memory.h"
#include "comm/switchboard.h"

namespace parajoule::comm {
namespace {

using base::Seconds;
using testing::HasSubstr;
using testing::MatchesRegex;

/// In memory that parent and children share.
struct Slate {
  std::atomic<int> ready{0};
  std::atomic<int> opened{0};
  std::array<std::array<char, 300>, 8> told{};  ///< the error of each rank
};

class Processes : public testing::Test {
 protected:
  Processes() {
    void* memory =
        mmap(nullptr, sizeof(Slate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    slate_ = new (memory) Slate;
    std::string name = "/dev/shm/parajoule-test-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Processes() override {
    munmap(slate_, sizeof(Slate));
    std::filesystem::remove_all(folder_);
  }

  /// Runs `body` on forked ranks; the status of each as waitpid gives it.
  std::vector<int> run(int ranks, const std::function<void(Communicator&)>& body) {
    slate_->ready = 0;
    slate_->opened = 0;
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank) {
      children.push_back(fork());
      if (children.back() == 0) _exit(child(rank, ranks, body));
    }
    std::vector<int> statuses;
    for (pid_t child : children) waitpid(child, &statuses.emplace_back(), 0);
    return statuses;
  }

  std::string told(int rank) const { return slate_->told[std::size_t(rank)].data(); }
  std::filesystem::path folder_;

 private:
  int child(int rank, int ranks, const std::function<void(Communicator&)>& body) {
    try {
      Switchboard board(seat(rank, ranks));
      Group world(board);
      body(world);
      board.leave();
    } catch (const std::exception& error) {
      std::strncpy(slate_->told[std::size_t(rank)].data(), error.what(), 299);
      return 4;
    }
    return HasFailure() ? 1 : 0;
  }

  Seat seat(int rank, int ranks) {
    const auto file = [&](int other) { return folder_ / std::to_string(other); };
    const auto own = Segment::create(file(rank), std::size_t(1) << 30);
    Node::furnish(*own, ranks);
    meet(slate_->ready, ranks);
    std::vector<std::shared_ptr<Segment>> segments;
    Nodes nodes;
    std::vector<int> all;
    for (int other = 0; other < ranks; ++other) {
      segments.push_back(other == rank ? own : Segment::open(file(other)));
      nodes.node.push_back(0);
      all.push_back(other);
    }
    meet(slate_->opened, ranks);
    std::filesystem::remove(file(rank));
    return {.rank = rank,
            .nodes = nodes,
            .node = Node(all, segments, rank),
            .wire = nullptr,
            .memory = Memory(own, Node::head_bytes(ranks)),
            .options = {.give_up = Seconds(60)}};
  }

  static void meet(std::atomic<int>& count, int ranks) {
    ++count;
    while (count < ranks) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }

  Slate* slate_;
};

TEST_F(Processes, DoWhatThreadsDo) {
  for (const bodies::Body& body : bodies::all()) {
    EXPECT_THAT(run(3, body.run), testing::Each(0)) << body.name << ": " << told(0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Processes, OneThatIsKilledIsMissedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  const auto statuses = run(3, [](Communicator& world) {
    world.barrier();
    if (world.rank() == 1) std::raise(SIGKILL);
    const base::Vector values = world.allocate(base::Element::float32, 100000);
    world.sum(values);
  });
  EXPECT_LT(Seconds(std::chrono::steady_clock::now() - begin), Seconds(5));
  EXPECT_TRUE(WIFSIGNALED(statuses[1]));
  EXPECT_EQ(told(0), "rank 1 died: its process is gone");
  EXPECT_EQ(told(2), "rank 1 died: its process is gone");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Processes, OneThatExitsWithoutAWordIsMissed) {
  run(2, [](Communicator& world) {
    if (world.rank() == 0) _exit(0);
    double value = 0;
    world.receive(base::Vector(std::span(&value, 1)), 0, 1);
  });
  EXPECT_EQ(told(1), "rank 0 died: its process is gone");
}

TEST_F(Processes, TooLittleSharedMemoryIsSaidBeforeItKills) {
  const std::size_t gibibyte = std::size_t(1) << 30;
  const std::size_t too_much = std::filesystem::space(folder_).capacity + gibibyte;
  const auto segment = Segment::create(folder_ / "large", too_much + gibibyte);
  Memory memory(segment, 0);
  try {
    memory.take(too_much);
    FAIL() << "there is no such memory";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), MatchesRegex("this rank wants .* MiB more of shared memory, .* has "
                                           ".* MiB free of .* MiB: .*--shm-size=.*"));
    EXPECT_THAT(error.what(), HasSubstr(folder_.string()));
  }
  // What was refused is not lost.
  const auto place = memory.take(100);
  memory.at(place)[99] = std::byte(1);
}

TEST(Memory, GivesOutWhatItGotBackCleared) {
  Memory memory(Segment::in_process(std::size_t(1) << 24), 100);
  const auto a = memory.take_cleared(5000);
  const auto b = memory.take_cleared(5000);
  const auto c = memory.take_cleared(5000);
  EXPECT_EQ(a % 4096, 0U);
  EXPECT_GE(a, 100U);
  memory.at(a)[4999] = std::byte(1);
  memory.at(b)[0] = std::byte(1);
  memory.give_back(a);
  memory.give_back(c);
  memory.give_back(b);
  // The three pieces have become one again.
  const auto all = memory.take_cleared(3 * 8192);
  EXPECT_EQ(all, a);
  for (std::size_t i = 0; i < 3 * 8192; ++i) ASSERT_EQ(memory.at(all)[i], std::byte(0));
  EXPECT_THROW(memory.give_back(b), base::Error);
  EXPECT_THROW(memory.take(std::size_t(1) << 24), base::Error);
}

}  // namespace
}  // namespace parajoule::comm
