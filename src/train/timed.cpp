#include "train/timed.h"

namespace parajoule::train {
namespace {

class TimedTransfer final : public comm::Pending::Transfer {
 public:
  TimedTransfer(comm::Pending pending, Phases& phases)
      : pending_(std::move(pending)), phases_(phases) {}
  bool done() override { return pending_.done(); }
  void wait() override {
    if (!phases_.idle()) return pending_.wait();
    const auto span = phases_.enter(Phase::exposed_communication);
    pending_.wait();
  }
  void wait_or(const std::function<bool()>& enough) override {
    if (!phases_.idle()) return pending_.wait_or(enough);
    const auto span = phases_.enter(Phase::exposed_communication);
    pending_.wait_or(enough);
  }

 private:
  comm::Pending pending_;
  Phases& phases_;
};

}  // namespace

comm::Pending Timed::timed(comm::Pending pending) {
  return comm::Pending(std::make_unique<TimedTransfer>(std::move(pending), phases_));
}

comm::Pending Timed::start(const comm::Collective& call) {
  fault_.reach(FaultPlace::communication, step_);
  return timed(inner_->start(call));
}

comm::Pending Timed::start_send(base::Vector values, int to, int tag) {
  return timed(inner_->start_send(values, to, tag));
}

comm::Pending Timed::start_receive(base::Vector values, int from, int tag) {
  return timed(inner_->start_receive(values, from, tag));
}

comm::Communicator::Arrived Timed::await(int from, int tag) {
  if (!phases_.idle()) return inner_->await(from, tag);
  const auto span = phases_.enter(Phase::exposed_communication);
  return inner_->await(from, tag);
}

std::unique_ptr<comm::Communicator> Timed::group(std::span<const int> ranks) {
  return std::unique_ptr<comm::Communicator>(new Timed(inner_->group(ranks), phases_, fault_));
}

}  // namespace parajoule::train
