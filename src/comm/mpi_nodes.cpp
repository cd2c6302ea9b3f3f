#include "comm/mpi_nodes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/mpi_wire.h"

namespace parajoule::comm {
namespace {

using Name = std::array<char, 128>;

/// What ranks of one node have in common.
Name name_of_node() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const char* given = std::getenv("PARAJOULE_NODE");
  Name name = {};
  fmt::format_to_n(name.begin(), name.size() - 1, "{} {}", boot, given ? given : "");
  return name;
}

/// `own` of every rank, in their order.
template <class T>
std::vector<T> from_all(MPI_Comm world, const T& own) {
  int size = 0;
  mpi(MPI_Comm_size(world, &size), "MPI_Comm_size");
  std::vector<T> all(static_cast<std::size_t>(size));
  mpi(MPI_Allgather(&own, sizeof(T), MPI_BYTE, all.data(), sizeof(T), MPI_BYTE, world),
      "MPI_Allgather");
  return all;
}

/// Throws on all ranks if one has a cause.
void all_well(MPI_Comm world, const std::string& cause) {
  using Text = std::array<char, 400>;
  Text own = {};
  std::copy_n(cause.data(), std::min(cause.size(), own.size() - 1), own.data());
  int rank = 0;
  for (const Text& text : from_all(world, own)) {
    if (text[0] != 0)
      throw base::Error(base::Fault::environment, fmt::format("rank {}: {}", rank, text.data()));
    ++rank;
  }
}

/// Runs on all ranks and fails on all if it fails on one.
template <class Act>
void together(MPI_Comm world, Act act) {
  std::string cause;
  try {
    act();
  } catch (const base::Error& error) {
    cause = error.what();
  }
  all_well(world, cause);
}

/// The files of the ranks of one run, which no other run has.
class Files {
 public:
  Files(MPI_Comm world, std::filesystem::path folder) : folder_(std::move(folder)) {
    std::random_device random;
    run_ = std::uint64_t(random()) << 32 | random();
    mpi(MPI_Bcast(&run_, sizeof(run_), MPI_BYTE, 0, world), "MPI_Bcast");
  }
  Files(const Files&) = delete;
  ~Files() {
    if (own_) unlink(own_->c_str());
  }

  std::shared_ptr<Segment> create(int rank, std::size_t bytes) {
    own_ = file(rank);
    return Segment::create(*own_, bytes);
  }
  std::shared_ptr<Segment> open(int rank) const { return Segment::open(file(rank)); }

 private:
  std::filesystem::path file(int rank) const {
    return folder_ / fmt::format("parajoule-{:016x}-{}", run_, rank);
  }

  std::filesystem::path folder_;
  std::uint64_t run_ = 0;
  std::optional<std::filesystem::path> own_;
};

std::vector<int> ranks_with(const auto& all, const auto& own) {
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] == own) ranks.push_back(int(rank));
  return ranks;
}

/// Nodes numbered in the order of their first ranks, from a number that the ranks of a node share.
Nodes numbered(const std::vector<int>& shared) {
  std::map<int, int> number;
  Nodes nodes;
  for (int one : shared)
    nodes.node.push_back(number.emplace(one, int(number.size())).first->second);
  return nodes;
}

}  // namespace

Settled settle(MPI_Comm world, const Options& options) {
  int rank = 0;
  mpi(MPI_Comm_rank(world, &rank), "MPI_Comm_rank");
  const Name name = name_of_node();
  const std::vector<int> candidates = ranks_with(from_all(world, name), name);
  const int most = int(candidates.size());

  Files files(world, options.shared_memory);
  std::shared_ptr<Segment> own;
  together(world, [&] {
    own = files.create(rank, segment_bytes(most));
    Node::furnish(*own, most);
  });

  // One's own file is never opened again: closing it would release its lock.
  int first = rank;
  for (int other : candidates)
    if (other < first && files.open(other)) first = other;
  std::vector<int> shared = from_all(world, first);
  const std::vector<int> machine = ranks_with(shared, first);
  if (options.ranks_per_node) {
    const auto seat = std::ranges::find(machine, rank) - machine.begin();
    first = machine[std::size_t(seat / *options.ranks_per_node * *options.ranks_per_node)];
    shared = from_all(world, first);
  }

  const std::vector<int> ranks = ranks_with(shared, first);
  std::vector<std::shared_ptr<Segment>> segments;
  together(world, [&] {
    for (int other : ranks) {
      segments.push_back(other == rank ? own : files.open(other));
      if (segments.back()) continue;
      throw base::Error(base::Fault::environment,
                        fmt::format("sees the shared memory of rank {} in {} but not of rank {}; "
                                    "give ranks that share no memory different PARAJOULE_NODE",
                                    first, options.shared_memory.string(), other));
    }
  });
  const int seat = int(std::ranges::find(ranks, rank) - ranks.begin());
  return {.nodes = numbered(shared),
          .node = Node(ranks, std::move(segments), seat),
          .reserved = Node::head_bytes(most)};
}

}  // namespace parajoule::comm
