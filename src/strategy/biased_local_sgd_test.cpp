#include "strategy/biased_local_sgd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/biased_choice.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Given;

constexpr int samples = 60;
constexpr int batch = 2;

/// Of sample s: 1/2 a (w - b)^2.
double steepness(std::int64_t s) { return 0.2 + 0.05 * double(s % 7); }
double goal(std::int64_t s) { return std::sin(double(s)) + (s % 5 == 0 ? 3 : 0); }

/// A rank that has its samples one by one, with one weight.
class SampleWorker final : public toy::Worker {
 public:
  explicit SampleWorker(comm::Communicator& group)
      : toy::Worker(group, 1), losses_(group.allocate(base::Element::float64, samples)) {
    losses_.fill(std::numeric_limits<double>::infinity());
  }

  /// The loop's own order.
  void begin_step(int step) {
    progress_ = {.step = step, .samples = batch, .batch = batch, .learning_rate = 0.3, .seed = 11};
    batch_.clear();
    for (int i = 0; i < batch; ++i)
      batch_.push_back((17 * group_.rank() + batch * step + i) % samples);
    if (!drawn_.empty()) take();
  }

  base::Vector losses() override { return losses_; }
  void draw(std::span<const std::int64_t> chosen) override {
    drawn_.assign(chosen.begin(), chosen.end());
    draws_.push_back(drawn_);
    take();
  }

  using toy::Worker::compute_gradients;
  void compute_gradients(Watch& watch) override {
    const double w = weights().as<double>()[0];
    double gradient = 0;
    for (const std::int64_t s : batch_) {
      gradient += steepness(s) * (w - goal(s)) / double(batch_.size());
      losses_.as<double>()[std::size_t(s)] = steepness(s) / 2 * (w - goal(s)) * (w - goal(s));
    }
    gradients().as<double>()[0] = gradient;
    watch.ready({0, 1});
  }

  std::vector<std::int64_t> batch_;
  std::vector<std::vector<std::int64_t>> draws_;

 private:
  void take() {
    batch_.assign(drawn_.begin(), drawn_.begin() + batch);
    drawn_.erase(drawn_.begin(), drawn_.begin() + batch);
  }

  std::vector<std::int64_t> drawn_;
  base::Vector losses_;
};

struct Seen {
  std::vector<std::vector<std::int64_t>> batches;  ///< of each step
  std::vector<std::vector<std::int64_t>> draws;
  std::vector<double> averaged;  ///< weight after each round
  std::uint64_t bytes = 0;       ///< sent
};

/// Rank 1 of three is slow: 2 steps a round, the others 4; a round takes 20 samples of the 60.
std::vector<Seen> train(const Given& more, int rounds) {
  Given given{{"slow_ranks", std::vector<std::int64_t>{1}},
              {"slow_steps", std::int64_t(2)},
              {"fast_steps", std::int64_t(4)}};
  for (const auto& [name, value] : more) given[name] = value;
  std::vector<Seen> seen(3);
  comm::Threads(3).run([&](comm::Communicator& group) {
    const auto strategy = toy::make("biased_local_sgd", given, group);
    SampleWorker worker(group);
    Seen& own = seen[group.rank()];
    const int each = group.rank() == 1 ? 2 : 4;
    for (int step = 0; step < rounds * each; ++step) {
      worker.begin_step(step);
      strategy->step(worker);
      own.batches.push_back(worker.batch_);
      if (step % each == each - 1) own.averaged.push_back(worker.weights().as<double>()[0]);
    }
    own.draws = worker.draws_;
    own.bytes = group.traffic().bytes;
  });
  return seen;
}

struct Simulated {
  std::vector<double> averaged;
  std::vector<std::vector<double>> scores;  ///< before each choice, every third round
};

/// The weights and the scores that the batches seen should have given.
Simulated simulated(const std::vector<Seen>& seen, const std::vector<double>& weight) {
  Simulated simulated;
  std::vector<std::vector<double>> score(
      3, std::vector<double>(samples, std::numeric_limits<double>::infinity()));
  double w = 0;
  for (int round = 0; round < int(seen[0].averaged.size()); ++round) {
    if (round % 3 == 0) {
      for (int s = 0; s < samples; ++s) {
        const double least = std::min({score[0][s], score[1][s], score[2][s]});
        for (auto& own : score) own[s] = least;
      }
      simulated.scores.push_back(score[0]);
    }
    double sum = 0;
    for (int r = 0; r < 3; ++r) {
      const int each = r == 1 ? 2 : 4;
      double own = w;
      for (int step = round * each; step < (round + 1) * each; ++step) {
        double gradient = 0;
        for (const auto s : seen[r].batches[step]) {
          gradient += steepness(s) * (own - goal(s)) / batch;
          score[r][s] = steepness(s) / 2 * (own - goal(s)) * (own - goal(s));
        }
        own -= 0.3 * gradient;
      }
      sum += weight[r] * own;
    }
    simulated.averaged.push_back(w = sum);
  }
  return simulated;
}

void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-13) << i;
}

TEST(BiasedLocalSgd, EqualsItsSequentialSimulation) {
  const auto equal = train({}, 9);
  for (const Seen& own : equal)
    expect_near(own.averaged, simulated(equal, {1 / 3., 1 / 3., 1 / 3.}).averaged);
  const auto steps = train({{"weights", std::string("steps")}}, 9);
  for (const Seen& own : steps) expect_near(own.averaged, simulated(steps, {.4, .2, .4}).averaged);
  const auto unbiased = train({{"biased", false}}, 9);
  EXPECT_TRUE(unbiased[0].draws.empty());
  for (const Seen& own : unbiased)
    expect_near(own.averaged, simulated(unbiased, {1 / 3., 1 / 3., 1 / 3.}).averaged);
}

TEST(BiasedLocalSgd, GivesTheSlowTheGreatestLosses) {                // R3
  const auto seen = train({{"candidates", std::int64_t(100)}}, 12);  // out of all samples
  const auto scores = simulated(seen, {1 / 3., 1 / 3., 1 / 3.}).scores;
  ASSERT_EQ(seen[1].draws.size(), 4u);
  for (std::size_t choice = 0; choice < 4; ++choice) {
    const auto& drawn = seen[1].draws[choice];
    EXPECT_EQ(drawn.size(), 3u * 2 * batch);
    const std::set<std::int64_t> given(drawn.begin(), drawn.end());
    EXPECT_EQ(given.size(), drawn.size());
    double least = std::numeric_limits<double>::infinity(), most_left = 0;
    for (int s = 0; s < samples; ++s) {
      double& bound = given.contains(s) ? least : most_left;
      bound = given.contains(s) ? std::min(least, scores[choice][s])
                                : std::max(most_left, scores[choice][s]);
    }
    EXPECT_GE(least, most_left) << choice;
    // The fast ones have parts of one shuffle, with nothing twice.
    std::set<std::int64_t> fast;
    for (const int r : {0, 2}) {
      EXPECT_EQ(seen[r].draws[choice].size(), 3u * 4 * batch);
      fast.insert(seen[r].draws[choice].begin(), seen[r].draws[choice].end());
    }
    EXPECT_EQ(fast.size(), 2u * 3 * 4 * batch);
  }
}

TEST(BiasedLocalSgd, ChoosesAmongAsManyCandidatesAsItIsTold) {
  // With one candidate for each sample the losses have no say.
  const auto one = train({{"candidates", std::int64_t(1)}}, 6);
  const auto four = train({{"candidates", std::int64_t(4)}}, 6);
  EXPECT_EQ(one[0].draws, four[0].draws);
  EXPECT_NE(one[1].draws[1], four[1].draws[1]);
  const auto scores = simulated(four, {1 / 3., 1 / 3., 1 / 3.}).scores[1];
  const auto mean = [&](const std::vector<std::int64_t>& drawn) {
    double sum = 0;
    for (const auto s : drawn) sum += std::min(scores[s], 1e3);
    return sum / double(drawn.size());
  };
  EXPECT_GT(mean(four[1].draws[1]), mean(one[1].draws[1]));
}

TEST(BiasedLocalSgd, SendsTheScoresOnceAChoice) {
  const auto all = [](const std::vector<Seen>& seen) {
    return seen[0].bytes + seen[1].bytes + seen[2].bytes;
  };
  constexpr std::uint64_t choices = 3;  // each lasts three of the nine rounds
  const auto scores =
      toy::counted_bytes(3, samples, [](auto& group, auto values) { group.minimum(values); });
  EXPECT_EQ(all(train({}, 9)), all(train({{"biased", false}}, 9)) + choices * scores);
}

TEST(BiasedChoice, DrawsEachSampleAsOften) {
  std::map<std::int64_t, int> times;
  base::Stream stream{1};
  for (int i = 0; i < 3000; ++i) {
    const auto some = drawn(4, 12, stream);
    EXPECT_EQ(std::set<std::int64_t>(some.begin(), some.end()).size(), 4u);
    for (const auto s : some) ++times[s];
  }
  ASSERT_EQ(times.size(), 12u);
  for (const auto& [s, count] : times) EXPECT_NEAR(count, 1000, 130) << s;  // five deviations
}

TEST(BiasedChoice, TakesTheHardest) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> losses{1, infinity, 3, 3, NAN, 0};
  const auto set = [&](std::int64_t count, std::vector<std::int64_t> candidates) {
    base::Stream stream{5};
    const auto chosen = hardest(count, std::move(candidates), losses, stream);
    return std::set<std::int64_t>(chosen.begin(), chosen.end());
  };
  EXPECT_EQ(set(2, {0, 1, 2, 3, 4, 5}), (std::set<std::int64_t>{1, 4}));
  EXPECT_EQ(set(3, {5, 3, 0, 2, 1}), (std::set<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(set(1, {3, 2}), (std::set<std::int64_t>{3}));
  EXPECT_EQ(set(1, {2, 3}), (std::set<std::int64_t>{2}));
}

TEST(BiasedLocalSgd, GivesEachRankItsShare) {
  const Method& chosen = method("biased_local_sgd");
  const auto share = [&](int rank, int ranks, const std::vector<std::int64_t>& slow) {
    const base::Settings settings(
        chosen.name, chosen.options,
        {{"slow_ranks", slow}, {"slow_steps", std::int64_t(2)}, {"fast_steps", std::int64_t(4)}});
    return chosen.part(rank, ranks, comm::Nodes{std::vector<int>(ranks)}, settings).share;
  };
  EXPECT_EQ(share(0, 3, {1}), 0.4);
  EXPECT_EQ(share(1, 3, {1}), 0.2);
  EXPECT_THROW(share(0, 3, {3}), base::Error);
  EXPECT_THROW(share(0, 3, {1, 1}), base::Error);
}

TEST(BiasedLocalSgd, RefusesARoundThatTakesMoreThanThereIs) {
  try {
    train({{"fast_steps", std::int64_t(40)}}, 1);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("the training set has 60"), std::string::npos);
  }
}

}  // namespace
}  // namespace parajoule::strategy
