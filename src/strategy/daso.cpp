// DASO: D. Coquelin, C. Debus, M. Goetz, F. von der Lehr, J. Kahn, M. Siggel, A. Streit,
// "Accelerating neural network training with distributed asynchronous and selective optimization
// (DASO)", Journal of Big Data 2022, arXiv:2104.05588, by its code (helmholtz-analytics/heat,
// heat/optim/dp_optimizer.py). P nodes of g ranks: gradients are averaged within a node; between
// the nodes weights are exchanged by one rank of each, in turn the q-th.
//
//   every batch       x <- x - lr (mean of g(x) within the node)        every `local_skip`-th only,
//                     and while an exchange is under way, if local_skip > 1; else the rank's own
//   blocking          ranks q: x <- sum_p x_p / P, in bfloat16 on the way;  x of q to its node
//   every global_skip ranks q: start sum_p x_p;  S batches later
//                     x <- (2 S x + sum_p x_p) / (2 S + P);  x of q to its node;  q <- q + 1 mod g
//   last of an epoch  as blocking, in a cycle in full precision, which overtakes an exchange under
//                     way;  q <- 0
//
// When which of these holds is in daso_pace.h. A rank's samples count P n_r / n in the mean within
// its node, so that blocking equals synchronous SGD with short batches too. bfloat16 keeps 8 bits:
// in blocking phases a change below 2^-9 of a weight is lost between nodes, as in the authors'
// code; downcast = "none" sends all bits. Passes of training do not read running statistics, so
// their mean is taken where it is read. What is evaluated is the mean of all ranks, which are equal
// after the last batch of an epoch. The end drops what is under way and takes that mean.
#include "strategy/daso.h"

#include <string>
#include <utility>
#include <vector>

#include "strategy/push.h"

namespace parajoule::strategy {

Daso::Daso(comm::Communicator& group, Options options)
    : Replicated(group), options_(options), cycle_(options.cycle) {
  const comm::Nodes nodes = group.nodes();
  std::vector<std::vector<int>> on_node(std::size_t(nodes.count()));
  std::size_t seat = 0;
  for (int rank = 0; rank < group.size(); ++rank) {
    auto& ranks = on_node[std::size_t(nodes.node[std::size_t(rank)])];
    if (rank == group.rank()) seat = ranks.size();
    ranks.push_back(rank);
  }
  std::vector<int> in_seat;
  for (const auto& ranks : on_node) in_seat.push_back(ranks.at(seat));
  inside_ = group.group(on_node[std::size_t(nodes.node[std::size_t(group.rank())])]);
  between_ = group.group(in_seat);
}

void Daso::step(Worker& worker) {
  const Progress progress = worker.progress();
  prepare(worker);
  if (progress.epoch != epoch_) begin_epoch(progress);
  take_batch(worker);
  exchange(worker.weights(), progress.last_of_epoch);
  ++batch_;
}

void Daso::prepare(Worker& worker) {
  if (exchanges_[0].values.made()) return;
  for (Exchange& exchange : exchanges_) exchange.values.make(worker.spare());
  if (options_.downcast == Downcast::bfloat16 && between_->size() > 1)
    wire_ = group_.allocate(base::Element::bfloat16, worker.weights().count());
}

void Daso::begin_epoch(const Progress& progress) {
  cycle_.begin_epoch(progress.epoch, progress.epochs, progress.loss);
  epoch_ = progress.epoch;
  batch_ = 0;
}

void Daso::take_batch(Worker& worker) {
  const Progress progress = worker.progress();
  Push push(exchanges_[0].sum);
  worker.compute_gradients(push);
  if (averages_gradients(progress.last_of_epoch)) {
    const double own = double(between_->size()) * double(progress.samples);
    inside_->sum(worker.gradients(),
                 progress.samples_of_all == 0 ? 0 : own / double(progress.samples_of_all));
    worker.update();
  } else if (progress.samples > 0) {
    worker.update();
  }
}

bool Daso::averages_gradients(bool last) const {
  const DasoPace& pace = cycle_.pace();
  return pace.local_skip <= 1 || batch_ % pace.local_skip == 0 ||
         batch_ % pace.global_skip <= pace.wait || last;
}

void Daso::exchange(base::Vector weights, bool last) {
  const DasoPace& pace = cycle_.pace();
  for (Exchange& exchange : exchanges_) --exchange.left;
  if (pace.blocking() || last) {
    drop();
    take_mean(weights);
    seat_ = last ? 0 : (seat_ + 1) % inside_->size();
  } else if (batch_ % pace.global_skip == 0) {
    std::swap(exchanges_[0], exchanges_[1]);
    send(exchanges_[0], weights);
    if (exchanges_[1].open) merge(exchanges_[1], weights);
    seat_ = (seat_ + 1) % inside_->size();
  } else if (exchanges_[0].open && exchanges_[0].left == 0) {
    merge(exchanges_[0], weights);
  }
}

/// Waits: all ranks have the mean of the nodes after it.
void Daso::take_mean(base::Vector weights) {
  if (mine(seat_)) {
    if (!wire_.empty() && cycle_.pace().blocking()) {
      wire_.cast(weights);
      between_->mean(wire_);
      weights.cast(wire_);
    } else {
      between_->mean(weights);
    }
  }
  inside_->broadcast(weights, seat_);
}

void Daso::send(Exchange& exchange, base::Vector weights) {
  const std::int64_t wait = cycle_.pace().wait;
  exchange.open = true;
  exchange.seat = seat_;
  exchange.wait = exchange.left = wait;
  if (!mine(seat_)) return;
  exchange.values->copy(weights);
  exchange.sum = between_->start_sum(*exchange.values);
}

void Daso::merge(Exchange& exchange, base::Vector weights) {
  exchange.open = false;
  if (mine(exchange.seat) && between_->size() > 1) {
    exchange.sum.wait();
    const double own = 2 * double(exchange.wait);
    const double all = own + between_->size();
    weights.scale(own / all);
    weights.add(*exchange.values, 1 / all);
  }
  inside_->broadcast(weights, exchange.seat);
}

void Daso::wait() {
  for (Exchange& exchange : exchanges_) exchange.sum.wait();
}

void Daso::drop() {
  wait();
  for (Exchange& exchange : exchanges_) exchange.open = false;
}

void Daso::save(base::Archive& archive) {
  wait();
  archive.put("epoch", epoch_);
  archive.put("batch", batch_);
  archive.put("seat", std::int64_t(seat_));
  base::Archive cycle;
  cycle_.save(cycle);
  archive.nest("cycle", cycle);
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    const Exchange& exchange = exchanges_[i];
    base::Archive part;
    part.put("open", std::int64_t(exchange.open));
    part.put("seat", std::int64_t(exchange.seat));
    part.put("wait", exchange.wait);
    part.put("left", exchange.left);
    exchange.values.save(part, "values");
    archive.nest("exchange" + std::to_string(i), part);
  }
}

void Daso::load(const base::Archive& archive) {
  epoch_ = archive.whole("epoch");
  batch_ = archive.whole("batch");
  seat_ = int(archive.whole("seat"));
  cycle_.load(archive.part("cycle"));
  for (std::size_t i = 0; i < exchanges_.size(); ++i) {
    const base::Archive part = archive.part("exchange" + std::to_string(i));
    Exchange& exchange = exchanges_[i];
    exchange.open = part.whole("open") != 0;
    exchange.seat = int(part.whole("seat"));
    exchange.wait = part.whole("wait");
    exchange.left = part.whole("left");
    exchange.values.load(part, "values");
  }
}

}  // namespace parajoule::strategy
