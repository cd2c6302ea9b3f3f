// Pipe-SGD: Y. Li, M. Yu, S. Li, S. Avestimehr, N. S. Kim, A. Schwing, "Pipe-SGD: A Decentralized
// Pipelined SGD Framework for Distributed Deep Net Training", NeurIPS 2018, arXiv:1811.03619. K
// iterations are in the pipe: while gradients are summed, the next are computed already.
//
//   L_t     <- sum_r (n_r / n) g_r(w_t)              its sum is started
//   w_{t+1} <- w_t - lr G_{t-K+1}                    G_t is L_t once it is summed
//
// So every gradient but those of the beginning is K - 1 steps old, on all ranks alike; K = 1 is
// synchronous SGD. Momentum and weight decay act when a gradient is applied. n_r are the samples of
// rank r in the step, n those of all (the paper has equal ones).
//
// The first W steps are synchronous (the paper warms large nets up so). What fills the pipe then:
//   zero    the paper's: G is zero where there is none. Here such a step makes no update, which is
//           the same for plain SGD and does not let momentum or decay act on no gradient.
//   repeat  as BytePS (github.com/bytedance/byteps) does, for K = 2: the gradient of the first step
//           after the warm-up is applied at once and then a second time.
//
// With a codec the sums run round a ring and each hop sends the encoded chunk: the upper half of
// each float32, or eight bits on a scale of the chunk (comm/codecs.h; the paper's truncation and
// quantisation). All ranks take the same decoded sum.
//
// A sum is started after the oldest has been applied, not before: K - 1 vectors are enough then,
// and sums run one after the other anyway. At the end what is in the pipe is applied. A checkpoint
// holds the sums, unapplied.
#include "strategy/pipe_sgd.h"

#include <string>
#include <utility>

#include "strategy/push.h"

namespace parajoule::strategy {

PipeSgd::PipeSgd(comm::Communicator& group, Options options) : group_(group), options_(options) {
  if (options_.codec) ring_ = std::make_unique<comm::Summing>(group);
}

comm::Pending PipeSgd::start_sum(base::Vector gradients, double factor) {
  if (!ring_) return group_.start_sum(gradients, factor);
  return comm::start_ring_sum(*ring_, gradients, factor, options_.codec);
}

void PipeSgd::step(Worker& worker) {
  const Progress at = worker.progress();
  const double factor = at.samples_of_all == 0 ? 0 : double(at.samples) / double(at.samples_of_all);
  take_up(worker);
  comm::Pending nothing;
  Push push(pipe_.empty() ? nothing : pipe_.back().under_way);
  worker.compute_gradients(push);
  if (synchronous(at.step)) {
    start_sum(worker.gradients(), factor).wait();
    worker.update();
    if (fills_by_repeating(at.step)) keep(worker);
  } else {
    if (std::int64_t(pipe_.size()) == options_.width - 1) apply_oldest(worker);
    Sum& sum = keep(worker);
    sum.under_way = start_sum(*sum.gradients, factor);
  }
}

bool PipeSgd::synchronous(std::int64_t step) const {
  return options_.width == 1 || step < options_.warmup_steps || fills_by_repeating(step);
}

bool PipeSgd::fills_by_repeating(std::int64_t step) const {
  return options_.start == Start::repeat && options_.width > 1 && step == options_.warmup_steps;
}

/// Puts a copy of the gradients at the end of the pipe: the next pass overwrites them.
PipeSgd::Sum& PipeSgd::keep(Worker& worker) {
  if (free_.empty()) free_.emplace_back().make(worker.spare());
  Sum& sum = pipe_.emplace_back(std::move(free_.back()), comm::Pending());
  free_.pop_back();
  sum.gradients->copy(worker.gradients());
  return sum;
}

void PipeSgd::apply_oldest(Worker& worker) {
  Sum& oldest = pipe_.front();
  oldest.under_way.wait();
  worker.update(worker.weights(), *oldest.gradients);
  free_.push_back(std::move(oldest.gradients));
  pipe_.pop_front();
}

/// What was loaded becomes vectors.
void PipeSgd::take_up(Worker& worker) {
  for (Sum& sum : pipe_)
    if (!sum.gradients.made()) sum.gradients.make(worker.spare());
}

void PipeSgd::save(base::Archive& archive) {
  archive.put("in_pipe", std::int64_t(pipe_.size()));
  for (std::size_t i = 0; i < pipe_.size(); ++i) {
    pipe_[i].under_way.wait();
    pipe_[i].gradients.save(archive, "sum" + std::to_string(i));
  }
}

void PipeSgd::load(const base::Archive& archive) {
  pipe_.clear();
  for (std::int64_t i = 0; i < archive.whole("in_pipe"); ++i)
    pipe_.emplace_back().gradients.load(archive, "sum" + std::to_string(i));
}

void PipeSgd::finish(Worker& worker) {
  take_up(worker);
  while (!pipe_.empty()) apply_oldest(worker);
}

}  // namespace parajoule::strategy
