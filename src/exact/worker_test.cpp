#include "exact/worker.h"

#include <string>

#include <gmock/gmock.h>

#include "base/error.h"
#include "comm/solo.h"
#include "optimize/catalog.h"

namespace parajoule::exact {
namespace {

using testing::ElementsAre;

constexpr Role alone{.trainer = 0, .trainers = 1};

Problem three_layers() {
  Problem problem = Problem::quadratic({{1, 2, 3, 4, 5, 6, 7}}, {{1, 1, 1, 1, 1, 1, 1}});
  problem.shapes = {{2, 2}, {2}, {1}};
  return problem;
}

/// Writes down what it is told, and looks at the gradients that are said to be ready.
class Log final : public strategy::Watch {
 public:
  explicit Log(Worker& worker) : worker_(worker) {}
  void before_forward(int unit) override { said.push_back("forward " + std::to_string(unit)); }
  void before_backward(int unit) override { said.push_back("backward " + std::to_string(unit)); }
  void ready(base::Range range) override {
    said.push_back("ready " + std::to_string(range.begin) + ".." + std::to_string(range.end));
    for (const double g : worker_.gradients()[range].as<double>()) final.push_back(g);
  }
  std::vector<std::string> said;
  Row final;

 private:
  Worker& worker_;
};

TEST(Worker, TellsOfEachLayerAsARealPassDoes) {
  comm::Solo group;
  const Problem problem = three_layers();
  Worker worker(group, problem, alone);
  worker.gradients().fill(99);
  Log log(worker);
  worker.compute_gradients(log);
  EXPECT_THAT(log.said,
              ElementsAre("forward 0", "forward 1", "forward 2", "backward 2", "ready 6..7",
                          "backward 1", "ready 4..6", "backward 0", "ready 0..4"));
  EXPECT_THAT(log.final, ElementsAre(-7, -5, -6, -1, -2, -3, -4));
}

TEST(Worker, LaysLayersEndToEndAndFinishesThemFromTheLast) {
  comm::Solo group;
  const Problem problem = three_layers();
  Worker worker(group, problem, alone);
  const auto& layers = worker.layout().parameters;
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].range, (base::Range{0, 4}));
  EXPECT_EQ(layers[2].range, (base::Range{6, 7}));
  EXPECT_EQ(layers[0].shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_THAT((std::vector{layers[0].backward, layers[1].backward, layers[2].backward}),
              ElementsAre(2, 1, 0));
  EXPECT_EQ(layers[0].kind, schedule::Kind::matrix);
  EXPECT_EQ(layers[1].kind, schedule::Kind::bias);
  EXPECT_EQ(worker.weights().element(), base::Element::float64);
}

TEST(Worker, ARankWithoutSamplesHasNoGradients) {
  comm::Solo group;
  Problem problem = three_layers();
  problem.samples = {{3, 0}};
  Worker worker(group, problem, alone);
  EXPECT_EQ(worker.progress().samples, 3);
  worker.begin_step(1);
  EXPECT_EQ(worker.progress().samples, 0);
  Log log(worker);
  worker.gradients().fill(99);
  worker.compute_gradients(log);
  EXPECT_THAT(log.said, ElementsAre("ready 0..7"));
  EXPECT_EQ(worker.gradients().largest_magnitude(), 0);
}

TEST(Worker, FollowsMomentumAndTheRatesOfEachStep) {
  comm::Solo group;
  Problem problem = Problem::quadratic({{2}}, {{3}});
  problem.momentum = 0.5;
  problem.learning_rate = {0.1, 0.2, 0.05};
  Worker worker(group, problem, alone);
  double w = 0, v = 0;
  const double rates[] = {0.1, 0.2, 0.05, 0.05, 0.05};
  for (int step = 0; step < 5; ++step) {
    worker.begin_step(step);
    worker.compute_gradients();
    worker.update();
    v = 0.5 * v + 2 * (w - 3);
    w -= rates[step] * v;
    EXPECT_DOUBLE_EQ(worker.current_weights()[0], w) << step;
  }
}

TEST(Worker, KnowsEpochsAndTheLossOfTheOneBefore) {
  comm::Solo group;
  Problem problem = three_layers();
  problem.steps_per_epoch = 3;
  problem.loss = {4, 2};
  Worker worker(group, problem, {.trainer = 0, .trainers = 2});
  const auto at = [&](std::int64_t step) {
    worker.begin_step(step);
    return std::pair(worker.progress().epoch, worker.progress().loss);
  };
  EXPECT_EQ(at(2), (std::pair<std::int64_t, double>(0, 0)));
  EXPECT_EQ(at(3), (std::pair<std::int64_t, double>(1, 4)));
  EXPECT_EQ(at(6), (std::pair<std::int64_t, double>(2, 2)));
  EXPECT_EQ(at(300), (std::pair<std::int64_t, double>(100, 2)));
  EXPECT_EQ(worker.progress().samples_of_all, 2);
  worker.begin_step(4);
  EXPECT_FALSE(worker.progress().last_of_epoch);
  worker.begin_step(5);
  EXPECT_TRUE(worker.progress().last_of_epoch);
}

TEST(Worker, SpendsItsTimeEvenlyBeforeEachLayerIsReady) {
  comm::Solo group;
  Problem problem = three_layers();
  problem.durations = {{6, 3}};
  double time = 0;
  const Clock clock{.now = [&] { return base::Seconds(time); },
                    .spend = [&](base::Seconds spent) { time += spent.count(); }};
  Worker worker(group, problem, alone, {.clock = clock});
  struct Times final : strategy::Watch {
    explicit Times(double& time) : time(time) {}
    void before_forward(int) override { at.push_back(time); }
    void ready(base::Range) override { at.push_back(time); }
    double& time;
    std::vector<double> at;
  } times(time);
  worker.compute_gradients(times);
  worker.begin_step(1);
  worker.compute_gradients(times);
  EXPECT_THAT(times.at, ElementsAre(0, 0, 0, 2, 4, 6, 6, 6, 6, 7, 8, 9));
}

TEST(Worker, NoticesWeightsThatChangeUnderThePass) {
  comm::Solo group;
  const Problem problem = three_layers();
  Worker worker(group, problem, alone);
  struct Meddler final : strategy::Watch {
    explicit Meddler(Worker& worker) : worker(worker) {}
    void before_backward(int unit) override {
      if (unit == 1) worker.weights().fill(1);
    }
    Worker& worker;
  } meddler(worker);
  EXPECT_THROW(worker.compute_gradients(meddler), base::Error);
}

TEST(Worker, CountsTheUpdatesOfARankThatServes) {
  comm::Solo group;
  Problem problem = Problem::quadratic({{1}, {2}}, {{1}, {2}});
  problem.start = {{5}, {6}};
  problem.learning_rate = {1, 10};
  std::vector<std::pair<std::int64_t, double>> served;
  Worker* self = nullptr;
  Worker worker(group, problem, {.trainer = {}, .trainers = 2},
                {.served = [&](std::int64_t updates) {
                  served.emplace_back(updates, self->current_weights()[0]);
                }});
  self = &worker;
  EXPECT_EQ(worker.current_weights(), Row{5});
  EXPECT_EQ(worker.progress().samples, 0);
  EXPECT_EQ(worker.progress().samples_of_all, 2);
  worker.gradients().fill(1);
  for (int push = 0; push < 3; ++push) worker.update();
  EXPECT_THAT(served, ElementsAre(std::pair(1, 4.0), std::pair(2, 3.0), std::pair(3, -7.0)));
}

TEST(Worker, UpdatesAtARateOfItsOwn) {
  comm::Solo group;
  const Problem problem = Problem::quadratic({{1}}, {{1}});
  Worker worker(group, problem, alone);
  worker.gradients().fill(1);
  worker.update(worker.weights(), worker.gradients(), {0, 1}, 0.5);
  EXPECT_EQ(worker.current_weights()[0], -0.5);
  EXPECT_EQ(worker.momentum(), 0);
}

TEST(Worker, GoesOnFromWhatItSaved) {
  comm::Solo group;
  Problem problem = three_layers();
  problem.momentum = 0.9;
  problem.buffers = {{1, 2}};
  const auto step = [](Worker& worker, std::int64_t number) {
    worker.begin_step(number);
    worker.compute_gradients();
    worker.update();
  };
  Worker whole(group, problem, alone), first(group, problem, alone), second(group, problem, alone);
  for (int number = 0; number < 6; ++number) step(whole, number);
  for (int number = 0; number < 3; ++number) step(first, number);
  first.buffers().fill(3);
  base::Archive archive;
  first.save(archive);
  second.load(archive);
  for (int number = 3; number < 6; ++number) step(second, number);
  EXPECT_EQ(second.current_weights(), whole.current_weights());
  EXPECT_THAT(second.buffers().as<double>(), ElementsAre(3, 3));
}

TEST(Worker, TakesAnotherOptimizer) {
  comm::Solo group;
  const Problem problem = three_layers();
  const auto adam = [](const schedule::Layout& layout, const optimize::Memory& memory) {
    const optimize::Entry& entry = optimize::optimizer("adam");
    return entry.make(base::Settings("adam", entry.options, {}), layout, memory);
  };
  Worker worker(group, problem, alone, {.optimizer = adam});
  worker.compute_gradients();
  worker.update();
  // Adam's first step is as long as its rate, whatever the gradient.
  for (const double w : worker.current_weights()) EXPECT_NEAR(w, 0.1, 1e-7);
}

}  // namespace
}  // namespace parajoule::exact
