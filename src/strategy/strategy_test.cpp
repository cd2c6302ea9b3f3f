// Methods on the four-rank quadratic toy problem: f_r(w) = 1/2 sum_k a_r (w_k - b_r)^2.
#include "strategy/strategy.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"
#include "comm/threads.h"
#include "strategy/catalog.h"
#include "strategy/merge.h"

namespace parajoule::strategy {
namespace {

using base::Range;
using base::Vector;

constexpr double rate = 0.1;
constexpr double curvature[] = {1, 2, 3, 4};
constexpr double target[] = {1, -1, 2, 0.5};

schedule::Layout layout_of(std::size_t count) {
  schedule::Layout layout;
  for (std::size_t i = 0; i < count; ++i)
    layout.parameters.push_back({.name = "w" + std::to_string(i),
                                 .shape = {1},
                                 .range = {i, i + 1},
                                 .backward = int(count - 1 - i)});
  return layout;
}

/// One rank of the toy problem with `count` equal coordinates, in double precision.
class ToyWorker final : public Worker {
 public:
  ToyWorker(comm::Communicator& group, std::size_t count)
      : group_(group),
        layout_(layout_of(count)),
        weights_(group.allocate(base::Element::float64, count)),
        gradients_(group.allocate(base::Element::float64, count)),
        buffers_(group.allocate(base::Element::float64, 1)) {
    buffers_.fill(group.rank());
  }

  Vector weights() override { return weights_; }
  Vector gradients() override { return gradients_; }
  Vector buffers() override { return buffers_; }
  const schedule::Layout& layout() const override { return layout_; }
  Vector spare() override { return group_.allocate(base::Element::float64, weights_.count()); }
  Progress progress() const override { return progress_; }
  base::Seconds now() const override { return base::Seconds(0); }
  using Worker::compute_gradients;
  using Worker::update;

  void compute_gradients(Watch& watch) override {
    const int r = group_.rank();
    std::vector<std::size_t> order(weights_.count());
    std::iota(order.begin(), order.end(), 0);
    // Each rank finishes its gradients in an order of its own.
    base::Stream stream = base::stream(7, base::Purpose::order, r, progress_.step);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
    for (std::size_t k : order) {
      const double w = weights_.as<double>()[k];
      gradients_.as<double>()[k] = progress_.samples == 0 ? 0 : curvature[r] * (w - target[r]);
      watch.ready({k, k + 1});
    }
  }

  void update(Vector weights, Vector gradients, Range range) override {
    weights[range].add(gradients[range], -rate);
  }

  Progress progress_{.samples = 1, .samples_of_all = 4};

 private:
  comm::Communicator& group_;
  schedule::Layout layout_;
  Vector weights_, gradients_, buffers_;
};

using Given = std::map<std::string, base::Value>;
using Samples = std::function<Progress(int rank, int step)>;

Progress one_each(int, int step) { return {.step = step, .samples = 1, .samples_of_all = 4}; }

std::unique_ptr<Strategy> make(std::string_view name, const Given& given,
                               comm::Communicator& group) {
  const Method& chosen = method(name);
  return chosen.make(group, base::Settings(name, chosen.options, given));
}

/// The weight of each rank after `steps` steps of the method on four ranks.
std::vector<double> trained(std::string_view name, const Given& given, int steps,
                            const Samples& samples = one_each) {
  std::vector<double> weights(4);
  comm::Threads(4).run([&](comm::Communicator& group) {
    const auto strategy = make(name, given, group);
    ToyWorker worker(group, 37);
    for (int step = 0; step < steps; ++step) {
      worker.progress_ = samples(group.rank(), step);
      strategy->step(worker);
    }
    const auto all = worker.weights().as<double>();
    EXPECT_TRUE(std::ranges::all_of(all, [&](double w) { return w == all[0]; }));
    weights[group.rank()] = all[0];
  });
  return weights;
}

TEST(Synchronous, FollowsTheMeanGradient) {
  double w = 0;
  for (int step = 0; step < 20; ++step) {
    double mean = 0;
    for (int r = 0; r < 4; ++r) mean += curvature[r] * (w - target[r]) / 4;
    w -= rate * mean;
  }
  for (const std::string overlap : {"none", "merged"})
    for (double weight : trained("synchronous", {{"overlap", overlap}}, 20))
      EXPECT_NEAR(weight, w, 1e-14) << overlap;
}

TEST(Synchronous, AnswersDoNotDependOnHowGradientsAreMerged) {
  const auto whole = trained("synchronous", {{"overlap", std::string("none")}}, 10);
  for (std::int64_t bytes : {1, 8, 24, 100, 1000000})
    EXPECT_EQ(trained("synchronous", {{"merge_bytes", bytes}}, 10), whole) << bytes;
}

TEST(Synchronous, WeighsEachRankByItsSamples) {
  const double samples[] = {3, 1, 0, 2};
  double w = 0;
  for (int step = 0; step < 5; ++step) {
    double mean = 0;
    for (int r = 0; r < 4; ++r) mean += samples[r] / 6 * curvature[r] * (w - target[r]);
    w -= rate * mean;
  }
  const auto uneven = [&](int rank, int step) {
    return Progress{.step = step, .samples = std::int64_t(samples[rank]), .samples_of_all = 6};
  };
  for (double weight : trained("synchronous", {}, 5, uneven)) EXPECT_NEAR(weight, w, 1e-14);
}

TEST(LocalSgd, EqualsItsSequentialSimulation) {
  double w[4] = {};
  for (int step = 1; step <= 10; ++step) {
    for (int r = 0; r < 4; ++r) w[r] -= rate * curvature[r] * (w[r] - target[r]);
    if (step % 3 == 0) std::ranges::fill(w, std::accumulate(w, w + 4, 0.0) / 4);
  }
  const auto ours = trained("local_sgd", {{"period", std::int64_t(3)}}, 10);
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(ours[r], w[r], 1e-14);
}

TEST(LocalSgd, PeriodOneEqualsSynchronousWithoutMomentum) {
  const auto local = trained("local_sgd", {{"period", std::int64_t(1)}}, 10);
  const auto synchronous = trained("synchronous", {}, 10);
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(local[r], synchronous[r], 1e-14);
}

TEST(LocalSgd, EvaluatesTheMeanAndTrainsOnAsIfNotAsked) {
  comm::Threads(4).run([](comm::Communicator& group) {
    const auto strategy = make("local_sgd", {{"period", std::int64_t(100)}}, group);
    ToyWorker worker(group, 3);
    strategy->step(worker);
    const double before = worker.weights().as<double>()[0];
    const Vector weights = worker.spare();
    const Vector buffers = group.allocate(base::Element::float64, 1);
    strategy->evaluation_weights(worker, weights, buffers);
    EXPECT_NEAR(weights.as<double>()[0], rate * (1 - 2 + 6 + 2) / 4, 1e-15);
    EXPECT_NEAR(buffers.as<double>()[0], 1.5, 1e-15);
    EXPECT_EQ(worker.weights().as<double>()[0], before);
  });
}

TEST(LocalSgd, ResumesInTheMiddleOfAPeriod) {
  comm::Threads(4).run([](comm::Communicator& group) {
    const Given given{{"period", std::int64_t(3)}};
    ToyWorker one(group, 3), two(group, 3);
    const auto whole = make("local_sgd", given, group);
    auto halves = make("local_sgd", given, group);
    for (int step = 0; step < 8; ++step) {
      whole->step(one);
      halves->step(two);
      if (step != 3) continue;
      base::Archive archive;
      halves->save(archive);
      halves = make("local_sgd", given, group);
      halves->load(archive);
    }
    EXPECT_EQ(one.weights().as<double>()[0], two.weights().as<double>()[0]);
  });
}

TEST(MergedRanges, CoverTheParametersFromTheLastToTheFirst) {
  schedule::Layout layout;
  std::size_t begin = 0;
  for (std::size_t count : {5, 1, 700, 3, 64, 64, 1, 900, 2}) {
    layout.parameters.push_back({.name = "p", .shape = {}, .range = {begin, begin + count}});
    begin += count;
  }
  for (std::size_t bytes : {1, 100, 256, 4000, 100000}) {
    std::size_t end = begin;
    for (const Range& range : merged_ranges(layout, base::Element::float32, bytes)) {
      EXPECT_EQ(range.end, end);
      EXPECT_GT(range.size(), 0u);
      end = range.begin;
    }
    EXPECT_EQ(end, 0u) << bytes;
  }
}

TEST(Catalog, AnswersAnUnknownMethodWithTheNearest) {
  try {
    method("local_sdg");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'local_sgd'"), std::string::npos);
  }
}

}  // namespace
}  // namespace parajoule::strategy
