#include "comm/threads.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "comm/group.h"
#include "comm/switchboard.h"

namespace parajoule::comm {
namespace {

/// Of addresses, for each rank. Enough for a debugger's model; thread sanitizers walk through all
/// of it.
constexpr std::size_t rank_bytes = std::size_t(4) << 30;

Nodes nodes_of(int ranks, std::optional<int> ranks_per_node) {
  Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank)
    nodes.node.push_back(ranks_per_node ? rank / *ranks_per_node : 0);
  return nodes;
}

class World {
 public:
  World(int ranks, const Options& options)
      : options_(options), nodes_(nodes_of(ranks, options.ranks_per_node)) {
    for (int rank = 0; rank < ranks; ++rank) {
      segments_.push_back(Segment::in_process(within_limit(rank_bytes, ranks)));
      Node::furnish(*segments_.back(), ranks);
      ranks_.push_back(rank);
    }
  }

  void run(int rank, const std::function<void(Communicator&)>& body) {
    Switchboard board(seat(rank));
    try {
      Group world(board);
      body(world);
      board.leave();
    } catch (const std::exception& error) {
      fail(board, fmt::format("failed: {}", error.what()));
    } catch (...) {
      fail(board, "failed: it threw what is no exception");
    }
  }

  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  Seat seat(int rank) const {
    const auto& segment = segments_[std::size_t(rank)];
    return {.rank = rank,
            .nodes = nodes_,
            .node = Node(ranks_, segments_, rank),
            .wire = nullptr,
            .memory = Memory(segment, Node::head_bytes(int(ranks_.size()))),
            .options = options_};
  }

  void fail(Switchboard& board, const std::string& what) {
    // First what is rethrown, then the news: whoever fails because of it comes second.
    {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
    }
    board.fail({board.seat().rank, what});
  }

  const Options& options_;
  Nodes nodes_;
  std::vector<int> ranks_;
  std::vector<std::shared_ptr<Segment>> segments_;
  std::mutex mutex_;
  std::exception_ptr first_;  ///< guarded by mutex_ while threads run
};

}  // namespace

Threads::Threads(int ranks, Options options) : ranks_(ranks), options_(std::move(options)) {
  base::ensure(ranks > 0, "a world has at least one rank");
  check(options_);
}

void Threads::run(const std::function<void(Communicator&)>& body) const {
  World world(ranks_, options_);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks_; ++rank)
    threads.emplace_back([&world, &body, rank] { world.run(rank, body); });
  for (std::thread& thread : threads) thread.join();
  world.rethrow();
}

}  // namespace parajoule::comm
