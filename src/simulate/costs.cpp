#include "simulate/costs.h"

#include <algorithm>
#include <bit>

namespace parajoule::simulate {
namespace {

using Traffic = comm::Communicator::Traffic;

/// In the order in which the first of equals is taken.
constexpr std::array algorithms{Sum::ring, Sum::halving_doubling, Sum::binary_blocks, Sum::tree,
                                Sum::hierarchical};

std::unique_ptr<SumCost> make(Sum sum, const Ways& ways) {
  switch (sum) {
    case Sum::halving_doubling:
      return halving_doubling_cost(ways);
    case Sum::binary_blocks:
      return binary_blocks_cost(ways);
    case Sum::tree:
      return tree_cost(ways);
    case Sum::hierarchical:
      return hierarchical_cost(ways);
    case Sum::automatic:
    case Sum::ring:
      break;
  }
  return ring_cost(ways);
}

double longest_part(const comm::Collective& call, int members) {
  const auto width = double(base::bytes_of(call.values.element()));
  if (!call.lengths.empty()) return width * double(*std::ranges::max_element(call.lengths));
  return double(call.values.bytes()) / members;
}

}  // namespace

Costs::Costs(const comm::Topology& members, const Places& places, Sum sum)
    : ways_(members, places), sum_(sum), rounds_(std::bit_width(unsigned(members.size() - 1))) {}
Costs::~Costs() = default;

const SumCost& Costs::algorithm(Sum sum) const {
  auto& made = algorithms_[std::size_t(sum)];
  if (!made) made = make(sum, ways_);
  return *made;
}

Sum Costs::chosen(double bytes) const {
  if (sum_ != Sum::automatic) return sum_;
  const auto known = quickest_.find(bytes);
  if (known != quickest_.end()) return known->second;
  const auto seconds = [&](Sum sum) { return algorithm(sum).seconds(bytes, ways_.members()); };
  const Sum quickest = *std::ranges::min_element(algorithms, {}, seconds);
  quickest_[bytes] = quickest;
  return quickest;
}

const Round& Costs::shift() const {
  if (!shift_) shift_ = std::make_unique<Round>(ways_.shift(1));
  return *shift_;
}

double Costs::parts_around(const comm::Collective& call) const {
  return (ways_.members() - 1) * shift().seconds(longest_part(call, ways_.members()));
}

double Costs::from_root(double bytes) const {
  const int n = ways_.members();
  const double tree = rounds_ * shift().seconds(bytes);
  const double in_parts = rounds_ * shift().seconds(0) +
                          (shift().seconds(bytes) - shift().seconds(0)) * (n - 1) / n +
                          (n - 1) * shift().seconds(bytes / n);
  return std::min(tree, in_parts);
}

double Costs::barrier() const { return rounds_ * shift().seconds(0); }

void Costs::finish(const comm::Collective& call, std::span<double> clocks) const {
  if (clocks.size() == 1) return;
  const auto bytes = double(call.values.bytes());
  const auto latest = [&] { return *std::ranges::max_element(clocks); };
  switch (call.kind) {
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
      return algorithm(bytes).finish(bytes, clocks);
    case Kind::broadcast:
    case Kind::reduce:
      std::ranges::fill(clocks, latest() + from_root(bytes));
      return;
    case Kind::reduce_scatter:
    case Kind::all_gather:
      std::ranges::fill(clocks, latest() + parts_around(call));
      return;
    case Kind::barrier:
      std::ranges::fill(clocks, latest() + barrier());
      return;
  }
}

double Costs::least(const comm::Collective& call) const {
  if (ways_.members() == 1) return 0;
  switch (call.kind) {
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
      return algorithm(double(call.values.bytes())).least(double(call.values.bytes()));
    case Kind::broadcast:
    case Kind::reduce:
      return from_root(double(call.values.bytes()));
    case Kind::reduce_scatter:
    case Kind::all_gather:
      return parts_around(call);
    case Kind::barrier:
      return barrier();
  }
  return 0;
}

double Costs::latencies(const comm::Collective& call) const {
  const int n = ways_.members();
  if (n == 1) return 0;
  switch (call.kind) {
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum: {
      const Sum sum = chosen(double(call.values.bytes()));
      auto& known = empty_sums_[std::size_t(sum)];
      if (!known) known = algorithm(sum).seconds(0, n);
      return *known;
    }
    case Kind::broadcast:
    case Kind::reduce:
      return from_root(0);
    case Kind::reduce_scatter:
    case Kind::all_gather:
      return (n - 1) * shift().seconds(0);
    case Kind::barrier:
      return barrier();
  }
  return 0;
}

Traffic Costs::sent(const comm::Collective& call, int member) const {
  const auto n = std::uint64_t(ways_.members());
  const std::uint64_t bytes = call.values.bytes();
  if (n == 1 || bytes == 0) return {};
  // Of a tree or of parts, n - 1 copies are sent by n members, to the byte.
  const std::uint64_t copies = (n - 1) * bytes;
  const std::uint64_t share = copies / n + std::uint64_t(std::uint64_t(member) < copies % n);
  switch (call.kind) {
    case Kind::sum:
    case Kind::minimum:
    case Kind::maximum:
      return algorithm(double(bytes)).sent(bytes, member);
    case Kind::broadcast:
    case Kind::reduce:
      return {share, 1};
    case Kind::reduce_scatter:
    case Kind::all_gather:
      return {share, n - 1};
    case Kind::barrier:
      return {};
  }
  return {};
}

}  // namespace parajoule::simulate
