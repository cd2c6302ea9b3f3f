// OLDSGD: Y. Zhou, S. Pu, "Accelerating Decentralized Optimization via Overlapping Local Steps",
// 2026, arXiv:2601.01493. On an undirected graph of ranks with a symmetric, doubly stochastic W:
// while each rank takes tau steps of its own, its neighbours' weights of the start of the round are
// under way; then each adds its own progress to their mixture.
//
//   t mod tau != 0:  x_i <- x_i - lr g_i(x_i)
//   t mod tau == 0:  x_i <- sum_j w_ij z_j + (x_i - z_i),    z_j = x_j of tau steps ago
//
// So the mean of all replicas moves by the mean of all gradients in every step, whatever W is. The
// paper does not speak of momentum: it is each rank's own and not mixed. A rank without samples in
// a step leaves its weights alone. Passes of training do not read running statistics, so their mean
// is taken where it is read. What is evaluated is the mean of the replicas, which mixing does not
// change, so the end drops what is under way.
#include "strategy/oldsgd.h"

#include "strategy/push.h"

namespace parajoule::strategy {

constexpr int tag = 1;

void Oldsgd::step(Worker& worker) {
  prepare(worker);
  if (steps_ % options_.period == 0) begin_round(worker.weights());
  Push push(transfers_);
  worker.compute_gradients(push);
  if (worker.progress().samples > 0) worker.update();
  if (++steps_ % options_.period == 0) end_round(worker.weights());
}

void Oldsgd::prepare(Worker& worker) {
  if (sent_.made()) return;
  const base::Vector weights = worker.weights();
  sent_.make(worker.spare());
  received_.make(
      group_.allocate(weights.element(), options_.mixing.neighbours.size() * weights.count()));
}

base::Vector Oldsgd::received(std::size_t neighbour) const {
  const std::size_t count = sent_->count();
  return (*received_)[{neighbour * count, (neighbour + 1) * count}];
}

void Oldsgd::begin_round(base::Vector weights) {
  sent_->copy(weights);
  const auto& neighbours = options_.mixing.neighbours;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    transfers_.push_back(group_.start_receive(received(i), neighbours[i].rank, tag));
    transfers_.push_back(group_.start_send(*sent_, neighbours[i].rank, tag));
  }
}

void Oldsgd::end_round(base::Vector weights) {
  wait();
  weights.add(*sent_, options_.mixing.self - 1);
  const auto& neighbours = options_.mixing.neighbours;
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    weights.add(received(i), neighbours[i].weight);
}

void Oldsgd::wait() {
  for (comm::Pending& transfer : transfers_) transfer.wait();
  transfers_.clear();
}

void Oldsgd::save(base::Archive& archive) {
  wait();
  archive.put("steps", steps_);
  sent_.save(archive, "sent");
  received_.save(archive, "received");
}

void Oldsgd::load(const base::Archive& archive) {
  steps_ = archive.whole("steps");
  sent_.load(archive, "sent");
  received_.load(archive, "received");
}

}  // namespace parajoule::strategy
