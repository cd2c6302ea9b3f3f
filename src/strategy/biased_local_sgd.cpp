// Biased Local SGD: J. Lim, J. Jo, C. Ko, Y. M. Go, J. Hwa, S. Lee, "Biased Local SGD for Efficient
// Deep Learning on Heterogeneous Systems", 2025, arXiv:2508.08540, by its code
// (jjihyunh/BiasedLocalSGD). Slow ranks take tau_c steps a round and fast ones tau_g, so that all
// arrive together; slow ones, which see few samples, are given those with the greatest losses.
//
//   tau_i times:  x_i <- x_i - lr g_i(x_i),  score[s] <- the loss of each sample s of the batch
//   then          x_i <- sum_j p_j x_j       p_j = 1 / R (equal: slow ranks count for more than
//                                            their steps), or tau_j / sum tau (steps)
//   every N / (b sum tau) rounds, rounded down, b samples a step, N in the training set:
//                 score <- the minimum over all ranks
//                 slow ranks: those of the greatest score out of `candidates` times as many, drawn
//                             evenly;  fast ranks: parts of an ordinary shuffle
//
// Scores begin as infinity, and the minimum keeps what any rank has seen: N numbers of 8 bytes that
// are reduced once in so many rounds. Losses are those of the passes that train; there are no
// others. What is drawn follows from the run's seed and a count, so nobody sends it. With biased =
// false the order of the data is the run's own, in which each sample comes once an epoch. More
// candidates than samples means all samples; N / (b sum tau) below 1 is refused. Momentum is each
// rank's own; running statistics are averaged with the weights and as they are. A rank without
// samples in a step leaves its weights alone. What is evaluated is that same mean.
#include "strategy/biased_local_sgd.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/seed.h"
#include "strategy/biased_choice.h"

namespace parajoule::strategy {

bool BiasedLocalSgd::Options::slow(int rank) const {
  return std::ranges::find(slow_ranks, rank) != slow_ranks.end();
}

std::int64_t BiasedLocalSgd::Options::steps_of_all(int ranks) const {
  const std::int64_t slow = std::int64_t(slow_ranks.size());
  return slow * slow_steps + (ranks - slow) * fast_steps;
}

BiasedLocalSgd::BiasedLocalSgd(comm::Communicator& group, Options options)
    : Replicated(group),
      options_(std::move(options)),
      own_steps_(options_.steps(group.rank())),
      weight_(options_.weights == Weights::equal
                  ? 1.0 / group.size()
                  : double(own_steps_) / double(options_.steps_of_all(group.size()))) {
  for (int rank = 0; rank < group.rank(); ++rank)
    place_ += options_.slow(rank) == options_.slow(group.rank());
}

void BiasedLocalSgd::step(Worker& worker) {
  if (chooses() && steps_ == next_choice_ * own_steps_) choose(worker);
  worker.compute_gradients();
  if (worker.progress().samples > 0) worker.update();
  if (++steps_ % own_steps_ == 0) end_round(worker);
}

void BiasedLocalSgd::end_round(Worker& worker) {
  average(worker.weights(), worker.buffers());
  if (!chooses() || steps_ != next_choice_ * own_steps_) return;
  // Ranks begin the next round at different times, and all of them may stop before a slow one
  // does: what they must know of each other is told now.
  group_.minimum(worker.losses());
  batch_ = worker.progress().batch;
}

void BiasedLocalSgd::choose(Worker& worker) {
  const base::Vector losses = worker.losses();
  const std::int64_t batch = batch_ > 0 ? batch_ : worker.progress().batch;
  const std::int64_t in_a_round = batch * options_.steps_of_all(group_.size());
  const std::int64_t samples = std::int64_t(losses.count());
  if (in_a_round == 0 || samples < in_a_round)
    throw base::Error(base::Fault::usage,
                      fmt::format("biased_local_sgd: a round takes {} samples and the training set "
                                  "has {}: take fewer steps a round or a smaller batch",
                                  in_a_round, samples));
  const std::int64_t rounds = samples / in_a_round;
  worker.draw(own_samples(worker, losses, rounds * batch));
  next_choice_ += rounds;
  ++choices_;
}

/// `each`: samples for each step of a round.
std::vector<std::int64_t> BiasedLocalSgd::own_samples(const Worker& worker, base::Vector losses,
                                                      std::int64_t each) const {
  const std::uint64_t seed = worker.progress().seed;
  const bool slow = options_.slow(group_.rank());
  base::Stream stream =
      base::stream(seed, base::Purpose::strategy, std::uint64_t(choices_), std::uint64_t(slow));
  const std::int64_t samples = std::int64_t(losses.count());
  std::vector<std::int64_t> all;
  if (slow) {
    const std::int64_t wanted = std::int64_t(options_.slow_ranks.size()) * own_steps_ * each;
    const std::int64_t candidates = std::min(samples, wanted * options_.candidates);
    // A rehearsal knows no losses: to it they are all equal.
    const std::vector<double> unknown(losses.place() == base::Place::nowhere ? losses.count() : 0);
    all = hardest(wanted, drawn(candidates, samples, stream),
                  unknown.empty() ? losses.as<double>() : std::span<const double>(unknown), stream);
  } else {
    all = drawn(samples, samples, stream);
  }
  const auto own = all.begin() + place_ * own_steps_ * each;
  return {own, own + own_steps_ * each};
}

void BiasedLocalSgd::average(base::Vector weights, base::Vector buffers) {
  group_.sum(weights, weight_);
  group_.sum(buffers, weight_);
}

void BiasedLocalSgd::save(base::Archive& archive) {
  archive.put("steps", steps_);
  archive.put("next_choice", next_choice_);
  archive.put("choices", choices_);
  archive.put("batch", batch_);
}

void BiasedLocalSgd::load(const base::Archive& archive) {
  steps_ = archive.whole("steps");
  next_choice_ = archive.whole("next_choice");
  choices_ = archive.whole("choices");
  batch_ = archive.whole("batch");
}

}  // namespace parajoule::strategy
