// Pipe-SGD against w <- w - lr G with G from K - 1 steps ago, in plain numbers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <numeric>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using toy::Given;
using toy::Replicas;
using toy::Rows;
using toy::Trial;
using Row = Replicas::Row;

constexpr std::size_t count = 37;

Given pipe(std::int64_t width, std::int64_t warmup_steps = 0, std::string start = "zero") {
  return {{"width", width}, {"warmup_steps", warmup_steps}, {"start", start}};
}

Given coded(std::string codec) { return {{"codec", codec}}; }

/// The rule: all replicas are one.
class Simulation {
 public:
  Simulation(int ranks, int width, int warmup, bool repeat, double momentum)
      : all(ranks, count, momentum), width_(width), warmup_(warmup), repeat_(repeat) {}

  void step(const std::vector<double>& weight = {}) {
    Rows gradients;
    for (int r = 0; r < int(all.w.size()); ++r) gradients.push_back(all.gradient(r));
    const Row mean = toy::mean(gradients, weight);
    const bool first = repeat_ && at_ == warmup_;
    if (width_ == 1 || at_ < warmup_ || first) apply(mean);
    if (width_ > 1 && at_ >= warmup_) {
      if (!first && int(pipe_.size()) == width_ - 1) apply_oldest();
      pipe_.push_back(mean);
    }
    ++at_;
  }
  void finish() {
    while (!pipe_.empty()) apply_oldest();
  }

  Replicas all;

 private:
  void apply(const Row& gradient) {
    for (int r = 0; r < int(all.w.size()); ++r) all.update(r, gradient);
  }
  void apply_oldest() {
    apply(pipe_.front());
    pipe_.pop_front();
  }

  int width_, warmup_;
  bool repeat_;
  int at_ = 0;
  std::deque<Row> pipe_;
};

void expect_like_simulation(int ranks, int width, int warmup, bool repeat, double momentum) {
  Simulation rule(ranks, width, warmup, repeat, momentum);
  const auto done = toy::train({.method = "pipe_sgd",
                                .options = pipe(width, warmup, repeat ? "repeat" : "zero"),
                                .ranks = ranks,
                                .steps = 9,
                                .count = count,
                                .momentum = momentum});
  for (const Rows& after : done.after) {
    rule.step();
    toy::expect_near(after, rule.all.w);
    for (const Row& w : after) EXPECT_EQ(w, after[0]);  // equal replicas, bit for bit
  }
  EXPECT_EQ(done.evaluated, done.last());
  rule.finish();
  toy::expect_near(done.finished, rule.all.w);
}

TEST(PipeSgd, EqualsItsSequentialSimulation) {
  for (int ranks : {1, 2, 3, 4, 5, 8})
    for (int width : {1, 2, 3, 4})
      for (int warmup : {0, 3}) expect_like_simulation(ranks, width, warmup, false, 0.9);
  for (int warmup : {0, 3}) expect_like_simulation(4, 2, warmup, true, 0.9);
}

/// (w x - y)^2 of one sample x = (1, 1, 1), y = 2, on every rank; w begins at (1, 1, 1).
struct OneSample final : toy::Worker {
  explicit OneSample(comm::Communicator& group) : toy::Worker(group, 3) { weights().fill(1); }
  void compute_gradients(Watch&) override { gradients().fill(2 * (weights().sum() - 2)); }
};

/// The first weight at the start and after each of six steps.
std::vector<double> one_sample(const Given& options, int ranks) {
  std::vector<double> weights;
  comm::Threads(ranks).run([&](comm::Communicator& group) {
    const auto strategy = toy::make("pipe_sgd", options, group);
    OneSample worker(group);
    std::vector<double> own{1};
    for (int step = 0; step < 6; ++step) {
      worker.progress_ = {
          .step = step, .samples = 1, .samples_of_all = ranks, .learning_rate = 0.01};
      strategy->step(worker);
      own.push_back(worker.weights().as<double>()[0]);
    }
    if (group.rank() == 0) weights = own;
  });
  return weights;
}

TEST(PipeSgd, GivesTheSequencesOfTheOneSampleProblem) {
  const auto near = [](double w) { return testing::DoubleNear(w, 1e-12); };
  for (int ranks : {1, 2, 3, 4}) {
    EXPECT_THAT(one_sample(pipe(1), ranks),
                ElementsAre(near(1), near(.98), near(.9612), near(.943528), near(.92691632),
                            near(.9113013408), near(.896623260352)));
    EXPECT_THAT(one_sample(pipe(2), ranks), ElementsAre(near(1), near(1), near(.98), near(.96),
                                                        near(.9412), near(.9236), near(.907128)));
    EXPECT_THAT(one_sample(pipe(2, 0, "repeat"), ranks),
                ElementsAre(near(1), near(.98), near(.96), near(.9412), near(.9236), near(.907128),
                            near(.891712)));
  }
}

TEST(PipeSgd, OfWidthOneIsSynchronousBitForBit) {
  for (int ranks : {1, 2, 3, 4, 5, 8}) {
    const auto ours = toy::train({.method = "pipe_sgd",
                                  .options = pipe(1),
                                  .ranks = ranks,
                                  .count = count,
                                  .momentum = 0.9});
    const auto synchronous = toy::train({.method = "synchronous",
                                         .options = {{"overlap", std::string("none")}},
                                         .ranks = ranks,
                                         .count = count,
                                         .momentum = 0.9});
    EXPECT_EQ(ours.after, synchronous.after);
    EXPECT_EQ(ours.finished, synchronous.finished);
  }
}

/// Its gradient is the number of its step, so that an update tells how old its gradient is.
struct Dated final : toy::Worker {
  using toy::Worker::Worker;
  void compute_gradients(Watch&) override { gradients().fill(double(progress_.step)); }
  void update(base::Vector, base::Vector gradients, base::Range, double) override {
    ages.push_back(double(progress_.step) - gradients.as<double>()[0]);
  }
  using strategy::Worker::update;
  std::vector<double> ages;
};

TEST(PipeSgd, GradientsAreExactlyWidthLessOneStepsOld) {
  for (int width : {2, 3, 5}) {
    comm::Threads(4).run([&](comm::Communicator& group) {
      const auto strategy = toy::make("pipe_sgd", pipe(width, 4), group);
      Dated worker(group, 1);
      for (int step = 0; step < 12; ++step) {
        worker.progress_ = {.step = step, .samples = 1, .samples_of_all = 4};
        strategy->step(worker);
      }
      std::vector<double> ages(4, 0);                         // in the warm-up
      ages.resize(std::size_t(12 - (width - 1)), width - 1);  // the pipe takes K - 1 steps to fill
      EXPECT_EQ(worker.ages, ages);
    });
  }
}

TEST(PipeSgd, WeighsEachRankByItsSamplesOfThatStep) {
  // The last batch is short, and two ranks have none of it.
  const auto samples = [](int rank, int step) { return step % 3 == 2 ? (rank < 2 ? 1 : 0) : 4; };
  Trial trial{.method = "pipe_sgd", .options = pipe(3), .count = count};
  trial.progress = [&](int rank, int step, Progress& at) {
    at.samples = samples(rank, step);
    at.samples_of_all = 0;
    for (int r = 0; r < 4; ++r) at.samples_of_all += samples(r, step);
  };
  Simulation rule(4, 3, 0, false, 0);
  const auto done = toy::train(trial);
  for (int step = 0; step < trial.steps; ++step) {
    rule.step(step % 3 == 2 ? std::vector{.5, .5, 0., 0.} : std::vector{.25, .25, .25, .25});
    toy::expect_near(done.after[std::size_t(step)], rule.all.w);
  }
}

/// Bytes that all ranks send in so many steps, to the last sum.
std::uint64_t bytes_sent(int ranks, std::size_t elements, int steps, const Given& options) {
  std::vector<std::uint64_t> bytes(std::size_t(ranks), 0);
  comm::Threads(ranks).run([&](comm::Communicator& group) {
    const auto strategy = toy::make("pipe_sgd", options, group);
    toy::Worker worker(group, elements);
    for (int step = 0; step < steps; ++step) {
      worker.progress_ = {.step = step, .samples = 1, .samples_of_all = ranks};
      strategy->step(worker);
    }
    strategy->finish(worker);
    bytes[std::size_t(group.rank())] = group.traffic().bytes;
  });
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t(0));
}

TEST(PipeSgd, SendsWhatItsFormulaSays) {
  constexpr std::size_t n = 1000;
  constexpr int steps = 6;
  for (int ranks : {2, 3, 4, 5, 8}) {
    // Of all ranks together, 2 (p - 1) times the vector: as it is, halved, or a byte each and four
    // for each of p chunks.
    const auto p = std::uint64_t(ranks);
    const std::uint64_t vectors = steps * 2 * (p - 1);
    EXPECT_EQ(bytes_sent(ranks, n, steps, pipe(3)), vectors * n * sizeof(double));
    EXPECT_EQ(bytes_sent(ranks, n, steps, coded("truncate16")), vectors * n * 2);
    EXPECT_EQ(bytes_sent(ranks, n, steps, coded("scale8")), vectors * (n + 4 * p));
  }
}

using Decoded = std::function<Row(const Row& chunk)>;

Row truncated(const Row& chunk) {
  Row decoded;
  for (double value : chunk) {
    const auto bits = std::bit_cast<std::uint32_t>(float(value)) & 0xffff0000;
    decoded.push_back(std::bit_cast<float>(bits));
  }
  return decoded;
}

Row quantised(const Row& chunk) {
  double largest = 0;
  for (double value : chunk) largest = std::max(largest, std::fabs(value));
  const auto s = float(largest / 127);
  Row decoded;
  for (double value : chunk) decoded.push_back(float(std::nearbyint(value / double(s))) * s);
  return decoded;
}

/// Chunk c of p begins at rank c; each hop adds a rank's part to what was decoded, and what is
/// finished is encoded once more for all.
Row summed_in_a_ring(const Rows& parts, const Decoded& decoded) {
  const std::size_t p = parts.size();
  Row sum;
  for (std::size_t c = 0; c < p; ++c) {
    const auto begin = std::ptrdiff_t(count * c / p), end = std::ptrdiff_t(count * (c + 1) / p);
    Row partial(parts[c].begin() + begin, parts[c].begin() + end);
    for (std::size_t hop = 1; hop < p; ++hop) {
      const Row came = decoded(partial);
      for (std::size_t k = 0; k < came.size(); ++k)
        partial[k] = parts[(c + hop) % p][std::size_t(begin) + k] + came[k];
    }
    const Row finished = decoded(partial);
    sum.insert(sum.end(), finished.begin(), finished.end());
  }
  return sum;
}

TEST(PipeSgd, EncodesEveryHopOfItsSums) {
  const std::pair<std::string, Decoded> codecs[] = {{"truncate16", truncated},
                                                    {"scale8", quantised}};
  for (const auto& [name, decoded] : codecs) {
    for (int ranks : {1, 2, 3, 5, 8}) {
      const auto done = toy::train(
          {.method = "pipe_sgd", .options = coded(name), .ranks = ranks, .count = count});
      Replicas all(ranks, count);
      std::deque<Row> in_pipe;
      for (const Rows& after : done.after) {
        Rows parts;
        for (int r = 0; r < ranks; ++r) {
          parts.push_back(all.gradient(r));
          for (double& g : parts.back()) g *= 1.0 / ranks;
        }
        in_pipe.push_back(summed_in_a_ring(parts, decoded));
        if (in_pipe.size() > 1) {
          for (int r = 0; r < ranks; ++r) all.update(r, in_pipe.front());
          in_pipe.pop_front();
        }
        toy::expect_near(after, all.w, 1e-12);
        for (const Row& w : after) EXPECT_EQ(w, after[0]);
      }
    }
  }
}

TEST(PipeSgd, ResumesWithAFullPipe) {
  for (int width : {1, 2, 4})
    toy::expect_resumes(
        {.method = "pipe_sgd", .options = pipe(width, 2), .ranks = 3, .steps = 8, .momentum = 0.9});
  toy::expect_resumes({.method = "pipe_sgd", .options = pipe(2, 2, "repeat"), .steps = 6});
  toy::expect_resumes({.method = "pipe_sgd", .options = coded("scale8"), .ranks = 3, .steps = 5});
}

TEST(PipeSgd, RefusesToRepeatInAnotherWidthThanTwo) {
  const Method& entry = method("pipe_sgd");
  for (int width : {1, 3}) {
    try {
      entry.part(0, 1, {.node = {0}},
                 base::Settings("pipe_sgd", entry.options, pipe(width, 0, "repeat")));
      FAIL();
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      EXPECT_THAT(error.what(), HasSubstr("width = 2"));
    }
  }
}

}  // namespace
}  // namespace parajoule::strategy
