#include "comm/communicator.h"

#include <algorithm>
#include <exception>

#include "base/error.h"

namespace parajoule::comm {

Pending& Pending::operator=(Pending&& other) {
  if (this == &other) return *this;
  wait();
  transfer_ = std::move(other.transfer_);
  return *this;
}

Pending::~Pending() {
  if (std::uncaught_exceptions() > 0) return;
  try {
    wait();
  } catch (const std::exception&) {
    // The failure was or will be told by whoever waits on this communicator next.
  }
}

std::string_view name_of(Collective::Kind kind) {
  switch (kind) {
    case Collective::Kind::sum:
      return "sum";
    case Collective::Kind::minimum:
      return "minimum";
    case Collective::Kind::maximum:
      return "maximum";
    case Collective::Kind::broadcast:
      return "broadcast";
    case Collective::Kind::reduce:
      return "reduce";
    case Collective::Kind::reduce_scatter:
      return "reduce_scatter";
    case Collective::Kind::all_gather:
      return "all_gather";
    case Collective::Kind::barrier:
      return "barrier";
  }
  return "unknown";
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
