#include "comm/random_calls.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"
#include "comm/bodies_test.h"

namespace parajoule::comm::bodies {
namespace {

using base::Element;
using Kind = Collective::Kind;

constexpr std::size_t longest = 20000;
constexpr std::size_t most_at_once = 6;
constexpr Element elements[] = {Element::float32,  Element::float64, Element::float16,
                                Element::bfloat16, Element::int64,   Element::byte};

/// Whole numbers that every element type holds exactly, also their sums over 8 ranks.
double input(std::uint64_t call, int rank, std::size_t i) {
  return double((3 * call + 7 * i + 5 * std::size_t(rank)) % 11);
}

/// Some ranks in some order; the same on all of them.
struct Members {
  std::vector<int> ranks;
  std::unique_ptr<Communicator> group;  ///< none for ranks that are not among them
};

/// One call, drawn by all ranks alike.
struct Call {
  std::uint64_t number = 0;
  const Members* members = nullptr;
  Element element = Element::float32;
  Collective collective = {};  ///< of which `values` are filled in last
  std::size_t count = 0;
  bool shift = false;  ///< no collective: each member sends to the one after it
};

std::vector<std::size_t> lengths(base::Stream& draw, std::size_t count, std::size_t ranks) {
  if (draw.below(2) == 0) return {};
  std::vector<std::size_t> cuts = {0, count};
  for (std::size_t i = 1; i < ranks; ++i) cuts.push_back(draw.below(count + 1));
  std::ranges::sort(cuts);
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) lengths.push_back(cuts[i + 1] - cuts[i]);
  return lengths;
}

Members some_of(Communicator& world, base::Stream& draw) {
  Members members;
  members.ranks.resize(std::size_t(world.size()));
  std::iota(members.ranks.begin(), members.ranks.end(), 0);
  for (std::size_t i = members.ranks.size(); i > 1; --i)
    std::swap(members.ranks[i - 1], members.ranks[draw.below(i)]);
  members.ranks.resize(1 + draw.below(members.ranks.size()));
  if (std::ranges::count(members.ranks, world.rank()) == 1)
    members.group = world.group(members.ranks);
  return members;
}

Call some_call(std::uint64_t number, base::Stream& draw, const std::vector<Members>& groups) {
  Call call = {.number = number, .members = &groups[draw.below(groups.size())]};
  call.element = elements[draw.below(std::size(elements))];
  call.shift = draw.below(5) == 0;
  call.collective.kind = Kind(draw.below(std::uint64_t(Kind::barrier) + 1));
  call.count = draw.below(4) == 0 ? draw.below(20) : draw.below(longest);
  const std::size_t ranks = call.members->ranks.size();
  call.collective.root = int(draw.below(ranks));
  if (call.collective.kind == Kind::barrier) call.count = 0;
  if (call.collective.kind == Kind::reduce_scatter || call.collective.kind == Kind::all_gather)
    call.collective.lengths = lengths(draw, call.count, ranks);
  return call;
}

/// The member whose part of reduce_scatter or all_gather holds element `i`.
std::size_t owner(const Call& call, std::size_t i) {
  const std::size_t ranks = call.members->ranks.size();
  std::size_t end = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    end += call.collective.lengths.empty() ? call.count / ranks + (rank < call.count % ranks)
                                           : call.collective.lengths[rank];
    if (i < end) return rank;
  }
  return ranks;
}

/// Element `i` of what member `rank` has in the end; `before` where nothing is promised.
double expected(const Call& call, int rank, std::size_t i, double found) {
  const int ranks = int(call.members->ranks.size());
  std::vector<double> inputs;
  for (int r = 0; r < ranks; ++r) inputs.push_back(input(call.number, r, i));
  if (call.shift) return inputs[std::size_t((rank + ranks - 1) % ranks)];
  const double sum = std::accumulate(inputs.begin(), inputs.end(), 0.0);
  switch (call.collective.kind) {
    case Kind::sum:
      return sum;
    case Kind::minimum:
      return std::ranges::min(inputs);
    case Kind::maximum:
      return std::ranges::max(inputs);
    case Kind::broadcast:
      return inputs[std::size_t(call.collective.root)];
    case Kind::reduce:
      return rank == call.collective.root ? sum : found;
    case Kind::reduce_scatter:
      return owner(call, i) == std::size_t(rank) ? sum : found;
    case Kind::all_gather:
      return inputs[owner(call, i)];
    case Kind::barrier:
      break;
  }
  return found;
}

/// A call that has been started on this rank.
class Started {
 public:
  Started(Call call, base::Vector room, base::Vector beside)
      : call_(std::move(call)),
        rank_(call_.members->group->rank()),
        values_(room[{0, call_.count}]),
        sent_(beside[{0, call_.count}]) {
    std::vector<double> inputs(call_.count);
    for (std::size_t i = 0; i < call_.count; ++i) inputs[i] = input(call_.number, rank_, i);
    store(call_.shift ? sent_ : values_, inputs);
    Communicator& group = *call_.members->group;
    call_.collective.values = values_;
    if (!call_.shift) {
      pending_.push_back(group.start(call_.collective));
      return;
    }
    const int ranks = group.size(), tag = int(call_.number % 1000);
    pending_.push_back(group.start_receive(values_, (rank_ + ranks - 1) % ranks, tag));
    pending_.push_back(group.start_send(sent_, (rank_ + 1) % ranks, tag));
  }

  void finish() {
    for (Pending& pending : pending_) pending.wait();
    const std::vector<double> found = loaded(values_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i], expected(call_, rank_, i, found[i]))
          << "call " << call_.number << ", kind " << name_of(call_.collective.kind) << ", member "
          << rank_ << ", element " << i;
    }
  }

 private:
  Call call_;
  int rank_;
  base::Vector values_;
  base::Vector sent_;
  std::vector<Pending> pending_;
};

}  // namespace

void random_calls(Communicator& world, std::uint64_t seed) {
  base::Stream draw = {seed};                                  // alike on all ranks
  base::Stream own = {seed, 1 + std::uint64_t(world.rank())};  // of this one
  std::vector<Members> groups;
  for (int i = 0; i < 3; ++i) groups.push_back(some_of(world, draw));
  std::vector<std::vector<std::byte>> rooms(2 * most_at_once, std::vector<std::byte>(8 * longest));
  std::uint64_t number = 0;
  for (int round = 0; round < 40 && !testing::Test::HasFatalFailure(); ++round) {
    std::vector<Started> started;
    const std::size_t at_once = 1 + draw.below(most_at_once);
    for (std::size_t i = 0; i < at_once; ++i) {
      Call call = some_call(++number, draw, groups);
      if (!call.members->group) continue;
      const auto vector = [&](std::size_t room) {
        return base::Vector(rooms[room].data(), longest, call.element);
      };
      started.emplace_back(call, vector(2 * i), vector(2 * i + 1));
      if (own.below(8) == 0) std::this_thread::sleep_for(std::chrono::microseconds(own.below(300)));
    }
    while (!started.empty()) {
      const auto next = started.begin() + std::ptrdiff_t(own.below(started.size()));
      next->finish();
      started.erase(next);
    }
  }
  world.barrier();
}

}  // namespace parajoule::comm::bodies
