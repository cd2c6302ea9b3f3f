#include "comm/communicator.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>

#include "base/error.h"

namespace parajoule::comm {

Pending& Pending::operator=(Pending&& other) {
  if (this == &other) return *this;
  wait();
  transfer_ = std::move(other.transfer_);
  return *this;
}

Pending::~Pending() {
  try {
    wait();
  } catch (const std::exception&) {
    // The failure was or will be told by whoever waits on this communicator next.
  }
}

int Nodes::count() const { return node.empty() ? 0 : 1 + *std::ranges::max_element(node); }

void Communicator::minimum(base::Vector values) {
  start({.kind = Collective::Kind::minimum, .values = values}).wait();
}
void Communicator::maximum(base::Vector values) {
  start({.kind = Collective::Kind::maximum, .values = values}).wait();
}
void Communicator::broadcast(base::Vector values, int root) {
  start({.kind = Collective::Kind::broadcast, .values = values, .root = root}).wait();
}
void Communicator::reduce(base::Vector values, int root) {
  start({.kind = Collective::Kind::reduce, .values = values, .root = root}).wait();
}
void Communicator::reduce_scatter(base::Vector values, std::vector<std::size_t> lengths) {
  start({.kind = Collective::Kind::reduce_scatter, .values = values, .lengths = std::move(lengths)})
      .wait();
}
void Communicator::all_gather(base::Vector values, std::vector<std::size_t> lengths) {
  start({.kind = Collective::Kind::all_gather, .values = values, .lengths = std::move(lengths)})
      .wait();
}
void Communicator::barrier() { start({.kind = Collective::Kind::barrier}).wait(); }

void Communicator::exchange(base::Vector out, int to, base::Vector in, int from, int tag) {
  Pending receiving = start_receive(in, from, tag);
  Pending sending = start_send(out, to, tag);
  receiving.wait();
  sending.wait();
}

Communicator::Arrived Communicator::await(int from, int tag) {
  using std::chrono::microseconds;
  // Short enough not to be felt in a step, long enough in the end to leave the core to others.
  for (microseconds pause(20);; pause = std::min(2 * pause, microseconds(1000))) {
    if (const auto message = arrived(from, tag)) return *message;
    std::this_thread::sleep_for(pause);
  }
}

double Communicator::sum(double value) {
  sum(base::Vector(std::span(&value, 1)));
  return value;
}
double Communicator::minimum(double value) {
  minimum(base::Vector(std::span(&value, 1)));
  return value;
}
double Communicator::maximum(double value) {
  maximum(base::Vector(std::span(&value, 1)));
  return value;
}

}  // namespace parajoule::comm
