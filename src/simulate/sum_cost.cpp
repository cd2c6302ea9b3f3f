#include "simulate/sum_cost.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "simulate/halving.h"
#include "simulate/trees.h"

namespace parajoule::simulate {
namespace {

using Traffic = comm::Communicator::Traffic;

double latest(std::span<const double> clocks) { return *std::ranges::max_element(clocks); }

std::vector<int> members_from(int begin, int count) {
  std::vector<int> members(std::size_t(count), 0);
  std::iota(members.begin(), members.end(), begin);
  return members;
}

class RingCost final : public SumCost {
 public:
  explicit RingCost(const Ways& ways) : members_(ways.members()), round_(ways.shift(1)) {}
  void finish(double bytes, std::span<double> clocks) const override {
    // After n - 1 rounds everyone has heard from the last one who came.
    std::ranges::fill(clocks, latest(clocks) + least(bytes));
  }
  double least(double bytes) const override {
    return 2 * (members_ - 1) * round_.seconds(bytes / members_);
  }
  Traffic sent(std::uint64_t bytes, int) const override {
    const auto n = std::uint64_t(members_);
    return {2 * (n - 1) * bytes / n, 2 * (n - 1)};
  }

 private:
  int members_;
  Round round_;
};

class HalvingDoublingCost final : public SumCost {
 public:
  explicit HalvingDoublingCost(const Ways& ways) : all_(ways, members_from(0, ways.members())) {}
  void finish(double bytes, std::span<double> clocks) const override { all_.finish(bytes, clocks); }
  double least(double bytes) const override { return all_.least(bytes); }
  Traffic sent(std::uint64_t bytes, int member) const override { return all_.sent(bytes, member); }

 private:
  HalvingDoubling all_;
};

class BinaryBlocksCost final : public SumCost {
 public:
  explicit BinaryBlocksCost(const Ways& ways) {
    int begin = 0;
    for (unsigned left = unsigned(ways.members()); left > 0; left -= std::bit_floor(left)) {
      const int size = int(std::bit_floor(left));
      blocks_.push_back({begin, size, Halving(ways, members_from(begin, size)), Round()});
      begin += size;
    }
    for (std::size_t i = 1; i < blocks_.size(); ++i) blocks_[i].up = to_larger(ways, i);
  }

  void finish(double bytes, std::span<double> clocks) const override {
    const auto of = [&](const Block& block) {
      return clocks.subspan(std::size_t(block.begin), std::size_t(block.size));
    };
    std::vector<double> at;
    for (const Block& block : blocks_)
      at.push_back(latest(of(block)) + block.halving.seconds(bytes));
    for (std::size_t i = blocks_.size() - 1; i > 0; --i)
      at[i - 1] = std::max(at[i - 1], at[i]) + handing_over(i, bytes);
    for (std::size_t i = 1; i < blocks_.size(); ++i)
      at[i - 1] = at[i] = at[i - 1] + handing_over(i, bytes);
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      std::ranges::fill(of(blocks_[i]), at[i] + blocks_[i].halving.seconds(bytes));
  }
  double least(double bytes) const override { return blocks_.back().halving.seconds(bytes); }
  Traffic sent(std::uint64_t bytes, int member) const override {
    std::size_t i = 0;
    while (member >= blocks_[i].begin + blocks_[i].size) ++i;
    Traffic sent = blocks_[i].halving.sent(bytes);
    sent = {2 * sent.bytes, 2 * sent.messages};
    const std::uint64_t part = bytes / std::uint64_t(blocks_[i].size);
    if (i > 0)
      sent = {sent.bytes + part,
              sent.messages + std::uint64_t(blocks_[i - 1].size / blocks_[i].size)};
    if (i + 1 < blocks_.size()) sent = {sent.bytes + part, sent.messages + 1};
    return sent;
  }

 private:
  struct Block {
    int begin;
    int size;
    Halving halving;
    Round up;  ///< its parts to the next larger block
  };

  /// A member's part goes in pieces to as many members of the larger block.
  Round to_larger(const Ways& ways, std::size_t i) const {
    const Block& larger = blocks_[i - 1];
    const Block& block = blocks_[i];
    std::vector<Ways::Message> messages;
    for (int to = 0; to < larger.size; ++to)
      messages.push_back({block.begin + to % block.size, larger.begin + to});
    return ways.round(messages);
  }
  double handing_over(std::size_t i, double bytes) const {
    return blocks_[i].up.seconds(bytes / blocks_[i - 1].size);
  }

  std::vector<Block> blocks_;  ///< the largest first
};

class TreeCost final : public SumCost {
 public:
  explicit TreeCost(const Ways& ways) : tree_(ways, members_from(0, ways.members())) {}
  void finish(double bytes, std::span<double> clocks) const override {
    tree_.reduce(bytes, clocks);
    tree_.broadcast(bytes, clocks);
  }
  double least(double) const override { return 0; }
  Traffic sent(std::uint64_t bytes, int member) const override {
    const std::uint64_t messages = tree_.below(member).size() + (member == 0 ? 0 : 1);
    return {messages * bytes, messages};
  }

 private:
  Tree tree_;
};

std::vector<int> first_of_nodes(const Ways& ways) {
  std::vector<int> first;
  for (int node = 0; node < ways.topology().node_count(); ++node)
    first.push_back(ways.topology().on_node(node)[0]);
  return first;
}

class HierarchicalCost final : public SumCost {
 public:
  explicit HierarchicalCost(const Ways& ways)
      : topology_(ways.topology()), first_(ways, first_of_nodes(ways)) {
    for (int node = 0; node < topology_.node_count(); ++node)
      trees_.emplace_back(ways, topology_.on_node(node));
  }
  void finish(double bytes, std::span<double> clocks) const override {
    for (const Tree& tree : trees_) tree.reduce(bytes, clocks);
    first_.finish(bytes, clocks);
    for (const Tree& tree : trees_) tree.broadcast(bytes, clocks);
  }
  double least(double bytes) const override { return first_.least(bytes); }
  Traffic sent(std::uint64_t bytes, int member) const override {
    const int node = topology_.node_of(member);
    const auto& here = topology_.on_node(node);
    const int place = int(std::ranges::find(here, member) - here.begin());
    const std::uint64_t messages =
        trees_[std::size_t(node)].below(place).size() + (place == 0 ? 0 : 1);
    Traffic sent = {messages * bytes, messages};
    if (place > 0) return sent;
    const Traffic across = first_.sent(bytes, node);
    return {sent.bytes + across.bytes, sent.messages + across.messages};
  }

 private:
  const comm::Topology& topology_;
  std::vector<Tree> trees_;  ///< of each node
  HalvingDoubling first_;    ///< among the first members of the nodes
};

}  // namespace

double SumCost::seconds(double bytes, int members) const {
  std::vector<double> clocks(std::size_t(members), 0.0);
  finish(bytes, clocks);
  return latest(clocks);
}

std::unique_ptr<SumCost> ring_cost(const Ways& ways) { return std::make_unique<RingCost>(ways); }
std::unique_ptr<SumCost> halving_doubling_cost(const Ways& ways) {
  return std::make_unique<HalvingDoublingCost>(ways);
}
std::unique_ptr<SumCost> binary_blocks_cost(const Ways& ways) {
  return std::make_unique<BinaryBlocksCost>(ways);
}
std::unique_ptr<SumCost> tree_cost(const Ways& ways) { return std::make_unique<TreeCost>(ways); }
std::unique_ptr<SumCost> hierarchical_cost(const Ways& ways) {
  return std::make_unique<HierarchicalCost>(ways);
}

}  // namespace parajoule::simulate
