#include "comm/failing.h"

namespace parajoule::comm {

struct Failing::Trigger {
  std::int64_t calls_left;
  std::function<void()> breaks;
  void called() {
    if (--calls_left == 0) breaks();
  }
};

Failing::Failing(Communicator& inner, std::int64_t at_call, std::function<void()> breaks)
    : inner_(inner), trigger_(std::make_shared<Trigger>(at_call, std::move(breaks))) {}

Failing::Failing(std::unique_ptr<Communicator> group, std::shared_ptr<Trigger> trigger)
    : owned_(std::move(group)), inner_(*owned_), trigger_(std::move(trigger)) {}

Failing::~Failing() = default;

int Failing::rank() const { return inner_.rank(); }
int Failing::size() const { return inner_.size(); }
Nodes Failing::nodes() const { return inner_.nodes(); }
base::Vector Failing::allocate(base::Element element, std::size_t count) {
  return inner_.allocate(element, count);
}
Pending Failing::start(const Collective& call) {
  trigger_->called();
  return inner_.start(call);
}
Pending Failing::start_send(base::Vector values, int to, int tag) {
  trigger_->called();
  return inner_.start_send(values, to, tag);
}
Pending Failing::start_receive(base::Vector values, int from, int tag) {
  trigger_->called();
  return inner_.start_receive(values, from, tag);
}
std::optional<Communicator::Arrived> Failing::arrived(int from, int tag) {
  return inner_.arrived(from, tag);
}
Communicator::Arrived Failing::await(int from, int tag) { return inner_.await(from, tag); }
std::unique_ptr<Communicator> Failing::group(std::span<const int> ranks) {
  return std::unique_ptr<Communicator>(new Failing(inner_.group(ranks), trigger_));
}
Communicator::Traffic Failing::traffic() const { return inner_.traffic(); }

}  // namespace parajoule::comm
