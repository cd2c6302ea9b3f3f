#include "comm/solo.h"

#include "comm/group.h"
#include "comm/switchboard.h"

namespace parajoule::comm {
namespace {

Seat seat_alone() {
  const auto segment = Segment::in_process(segment_bytes(1));
  Node::furnish(*segment, 1);
  return {.rank = 0,
          .nodes = {{0}},
          .node = Node({0}, {segment}, 0),
          .wire = nullptr,
          .memory = Memory(segment, Node::head_bytes(1))};
}

}  // namespace

struct Solo::Parts {
  Switchboard board{seat_alone()};
  Group world{board};
};

Solo::Solo() : parts_(std::make_unique<Parts>()) {}
Solo::~Solo() = default;

int Solo::rank() const { return 0; }
int Solo::size() const { return 1; }
Nodes Solo::nodes() const { return parts_->world.nodes(); }
base::Vector Solo::allocate(base::Element element, std::size_t count) {
  return parts_->world.allocate(element, count);
}
Pending Solo::start(const Collective& call) { return parts_->world.start(call); }
Pending Solo::start_send(base::Vector values, int to, int tag) {
  return parts_->world.start_send(values, to, tag);
}
Pending Solo::start_receive(base::Vector values, int from, int tag) {
  return parts_->world.start_receive(values, from, tag);
}
std::optional<Communicator::Arrived> Solo::arrived(int from, int tag) {
  return parts_->world.arrived(from, tag);
}
Communicator::Arrived Solo::await(int from, int tag) { return parts_->world.await(from, tag); }
std::unique_ptr<Communicator> Solo::group(std::span<const int> ranks) {
  return parts_->world.group(ranks);
}
Communicator::Traffic Solo::traffic() const { return parts_->world.traffic(); }

}  // namespace parajoule::comm
