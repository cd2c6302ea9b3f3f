#include "comm/group.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/seed.h"
#include "comm/call.h"

namespace parajoule::comm {
namespace {

std::vector<int> all_ranks(const Nodes& world) {
  std::vector<int> ranks(world.node.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// A number for a list of ranks that no other list has.
std::uint64_t name_of(const std::vector<int>& ranks) {
  std::uint64_t name = 0;
  for (int rank : ranks) name = base::Stream{name, std::uint64_t(rank)}();
  return name;
}

std::span<std::byte> bytes_of(base::Vector values) {
  if (!values.empty() && values.place() != base::Place::host)
    base::ensure(false, "values that ranks exchange lie on the host");
  return {static_cast<std::byte*>(values.data()), values.bytes()};
}

}  // namespace

/// Waits for a message without taking it.
class Group::Arrival final : public Moving {
 public:
  Arrival(const Group& group, Messages::Key key, std::vector<int> from)
      : group_(group), key_(key), from_(std::move(from)) {}
  void advance() override {}
  bool finished() const override { return group_.look(key_, from_).has_value(); }
  Absence absence() const override {
    return {fmt::format("a message with tag {}", key_.tag), from_, Absence::Need::one};
  }

 private:
  const Group& group_;
  Messages::Key key_;
  std::vector<int> from_;
};

Group::Group(Switchboard& board) : Group(board, all_ranks(board.seat().nodes)) {}

Group::Group(Switchboard& board, std::vector<int> ranks)
    : board_(board),
      topology_(std::make_shared<Topology>(std::move(ranks), board.seat().nodes)),
      own_(topology_->member_of(board.seat().rank)) {
  // Not agreed with anyone: all members make the groups of one list in one order.
  const std::uint64_t name = name_of(topology_->ranks());
  context_ = base::Stream{name, board_.count_group(name)}();
}

Group::~Group() {
  for (std::uint64_t place : allocated_) board_.seat().memory.give_back(place);
}

base::Vector Group::allocate(base::Element element, std::size_t count) {
  Memory& memory = board_.seat().memory;
  allocated_.push_back(memory.take_cleared(count * base::bytes_of(element)));
  return base::Vector(memory.at(allocated_.back()), count, element);
}

Pending Group::start(const Collective& call) {
  const Occasion occasion{.board = board_,
                          .topology = topology_,
                          .context = context_,
                          .sequence = ++collectives_,
                          .own = own_};
  return board_.begin(std::make_unique<Call>(occasion, call));
}

Pending Group::start_send(base::Vector values, int to, int tag) {
  check_member(to, "a message goes to");
  return board_.begin(
      board_.messages().send({context_, 0, tag}, topology_->rank_of(to), bytes_of(values)));
}

Pending Group::start_receive(base::Vector values, int from, int tag) {
  return board_.begin(
      board_.messages().receive({context_, 0, tag}, senders(from), bytes_of(values)));
}

std::optional<Communicator::Arrived> Group::arrived(int from, int tag) {
  board_.progress();
  return look({context_, 0, tag}, senders(from));
}

Communicator::Arrived Group::await(int from, int tag) {
  const Messages::Key key{context_, 0, tag};
  Arrival arrival(*this, key, senders(from));
  board_.wait(arrival);
  return *look(key, senders(from));
}

std::unique_ptr<Communicator> Group::group(std::span<const int> ranks) {
  std::vector<int> world;
  for (int member : ranks) {
    check_member(member, "a group is made of");
    world.push_back(topology_->rank_of(member));
  }
  if (std::ranges::find(ranks, own_) == ranks.end())
    base::ensure(false, fmt::format("rank {} makes only groups that it belongs to", own_));
  return std::unique_ptr<Communicator>(new Group(board_, std::move(world)));
}

std::vector<int> Group::senders(int from) const {
  if (from == anyone) return topology_->ranks();
  check_member(from, "a message comes from");
  return {topology_->rank_of(from)};
}

void Group::check_member(int member, std::string_view what) const {
  if (member >= 0 && member < size()) return;
  base::ensure(false, fmt::format("{} one of {} ranks, not {}", what, size(), member));
}

std::optional<Communicator::Arrived> Group::look(const Messages::Key& key,
                                                 std::span<const int> from) const {
  const Note* note = board_.messages().arrived(key, from);
  if (!note) return std::nullopt;
  return Arrived{topology_->member_of(note->from), note->count};
}

}  // namespace parajoule::comm
