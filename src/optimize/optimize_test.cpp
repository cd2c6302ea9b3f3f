// Each optimizer against its paper's formulas, written out element by element in long double with
// the momentum, moments and counts as plain numbers.

#include <cmath>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"
#include "optimize/catalog.h"

namespace parajoule::optimize {
namespace {

using base::Range;
using base::Vector;
using Given = std::map<std::string, base::Value>;

/// A convolution, its normalisation, and a linear layer: matrices and vectors in turn.
schedule::Layout layout() {
  using schedule::Kind;
  return {.parameters =
              {{.name = "conv", .shape = {4, 9}, .range = {0, 36}},
               {.name = "scale", .shape = {4}, .range = {36, 40}, .kind = Kind::normalisation},
               {.name = "shift", .shape = {4}, .range = {40, 44}, .kind = Kind::normalisation},
               {.name = "words", .shape = {5, 7}, .range = {44, 79}, .kind = Kind::embedding},
               {.name = "linear", .shape = {3, 5}, .range = {79, 94}},
               {.name = "bias", .shape = {3}, .range = {94, 97}, .kind = Kind::bias}},
          .buffers = {}};
}
constexpr std::size_t count = 97;

bool spared(std::size_t i) { return (i >= 36 && i < 44) || i >= 94; }

/// Memory for an optimizer of T, kept until the end of a test.
template <class T>
class Store {
 public:
  Memory memory() {
    return [this](std::size_t elements) { return Vector(std::span(kept_.emplace_back(elements))); };
  }

 private:
  std::deque<std::vector<T>> kept_;
};

template <class T>
struct Trained {
  std::vector<T> weights = std::vector<T>(count);
  Store<T> store;
  std::unique_ptr<Optimizer> optimizer;

  Trained(std::string_view name, const Given& given) {
    base::Stream stream{1};
    for (T& weight : weights) weight = T(stream.normal());
    const Entry& entry = optimize::optimizer(name);
    optimizer = entry.make({name, entry.options, given}, layout(), store.memory());
  }

  /// Gradients of step t are the same for all optimizers and precisions.
  static std::vector<T> gradients(int t) {
    base::Stream stream{2, std::uint64_t(t)};
    std::vector<T> values(count);
    for (T& value : values) value = T(float(stream.normal()));
    return values;
  }

  void step(int t, Range range, double rate) {
    std::vector<T> values = gradients(t);
    optimizer->step(Vector(std::span(weights)), Vector(std::span(values)), range, rate);
  }
};

constexpr double rates[] = {0.1, 0.1, 0.05, 0.05, 0.01, 0.2, 0.2, 0.02};

/// What the paper does to one element: its weight, gradient and decay, the step from 1, the rate.
struct Element {
  long double w, v = 0, m = 0, s = 0;
};
using Rule = std::function<void(Element&, long double g, long double lambda, int t, double rate)>;

template <class T>
void compare(std::string_view name, const Given& given, const Rule& rule, double tolerance) {
  const base::Settings settings{name, optimizer(name).options, given};
  Trained<T> trained(name, given);
  std::vector<Element> expected;
  for (T weight : trained.weights) expected.push_back({.w = weight});
  for (int t = 1; t <= int(std::size(rates)); ++t) {
    const double rate = rates[t - 1];
    const std::vector<T> gradients = Trained<T>::gradients(t);
    for (std::size_t i = 0; i < count; ++i) {
      const bool pulled = settings.word("decay") == "all" || !spared(i);
      rule(expected[i], gradients[i], pulled ? settings.number("weight_decay") : 0, t, rate);
    }
    trained.step(t, {0, count}, rate);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(double(trained.weights[i]), double(expected[i].w), tolerance)
          << name << " step " << t << " element " << i;
  }
}

void compare_both(std::string_view name, Given given, const Rule& rule) {
  for (const char* decay : {"all", "matrices"}) {
    given["decay"] = decay;
    compare<double>(name, given, rule, 1e-14);
    compare<float>(name, given, rule, 4e-6);
  }
}

TEST(Sgd, PlainGoesDownTheGradient) {
  compare_both("sgd", {{"momentum", 0.0}, {"weight_decay", 0.01}},
               [](Element& e, long double g, long double lambda, int, double rate) {
                 e.w -= rate * (g + lambda * e.w);
               });
}

TEST(Sgd, MomentumKeepsTheRateOutOfTheVelocity) {
  compare_both("sgd", {{"momentum", 0.9}, {"weight_decay", 0.01}},
               [](Element& e, long double g, long double lambda, int t, double rate) {
                 g += lambda * e.w;
                 e.v = t == 1 ? g : 0.9L * e.v + g;
                 e.w -= rate * e.v;
               });
}

TEST(Sgd, NesterovLooksAhead) {
  compare_both("sgd", {{"momentum", 0.8}, {"nesterov", true}, {"weight_decay", 0.02}},
               [](Element& e, long double g, long double lambda, int, double rate) {
                 g += lambda * e.w;
                 e.v = 0.8L * e.v + g;
                 e.w -= rate * (g + 0.8L * e.v);
               });
}

/// Moments of both Adams and the step they make, without the rate.
long double adam_step(Element& e, long double g, int t) {
  constexpr long double beta1 = 0.8L;
  constexpr long double beta2 = 0.95L;
  e.m = beta1 * e.m + (1 - beta1) * g;
  e.s = beta2 * e.s + (1 - beta2) * g * g;
  const long double mean = e.m / (1 - std::pow(beta1, (long double)(t)));
  const long double square = e.s / (1 - std::pow(beta2, (long double)(t)));
  return mean / (std::sqrt(square) + 1e-6L);
}

const Given adam_settings{
    {"beta1", 0.8}, {"beta2", 0.95}, {"epsilon", 1e-6}, {"weight_decay", 0.03}};

TEST(Adam, DecaysThroughTheMoments) {
  compare_both("adam", adam_settings,
               [](Element& e, long double g, long double lambda, int t, double rate) {
                 e.w -= rate * adam_step(e, g + lambda * e.w, t);
               });
}

TEST(AdamW, DecaysApartFromTheMoments) {
  compare_both("adamw", adam_settings,
               [](Element& e, long double g, long double lambda, int t, double rate) {
                 e.w -= rate * lambda * e.w;
                 e.w -= rate * adam_step(e, g, t);
               });
}

// The paper's note: the size of a step is at most about the rate; of the first one exactly.
TEST(Adam, TheFirstStepIsTheRate) {
  Trained<double> trained("adam", {{"epsilon", 0.0}});
  const std::vector<double> before = trained.weights;
  trained.step(1, {0, count}, 0.125);
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_NEAR(std::fabs(trained.weights[i] - before[i]), 0.125, 1e-12);
}

struct Setting {
  const char* name;
  Given given;
};

class Each : public testing::TestWithParam<Setting> {};

// Cuts that lie across parameters, in another order every step, change no bit.
TEST_P(Each, RangesOfAnyCutAreTheWholeStep) {
  Trained<float> whole(GetParam().name, GetParam().given);
  Trained<float> parts(GetParam().name, GetParam().given);
  for (int t = 1; t <= 6; ++t) {
    whole.step(t, {0, count}, 0.1);
    const auto cut = std::size_t(10 * t + 7);
    parts.step(t, {cut, count}, 0.1);
    parts.step(t, {0, 5}, 0.1);
    parts.step(t, {5, 5}, 0.1);
    parts.step(t, {5, cut}, 0.1);
    ASSERT_EQ(whole.weights, parts.weights) << "step " << t;
  }
}

// A range that was left out twice goes on as if the others had never moved.
TEST_P(Each, StateStaysWithItsElements) {
  Trained<double> often(GetParam().name, GetParam().given);
  Trained<double> seldom(GetParam().name, GetParam().given);
  const Range some{30, 60};
  for (int t = 1; t <= 6; ++t) {
    often.step(t, {0, 30}, 0.1);
    often.step(t, {60, count}, 0.1);
    if (t % 3 == 0) often.step(t, some, 0.1);
    if (t % 3 == 0) seldom.step(t, some, 0.1);
  }
  for (std::size_t i = some.begin; i < some.end; ++i)
    EXPECT_EQ(often.weights[i], seldom.weights[i]);
}

TEST_P(Each, OnlyTheRangeMoves) {
  Trained<float> trained(GetParam().name, GetParam().given);
  const std::vector<float> before = trained.weights;
  trained.step(1, {35, 45}, 0.1);
  for (std::size_t i = 0; i < count; ++i) {
    const bool inside = i >= 35 && i < 45;
    EXPECT_EQ(trained.weights[i] != before[i], inside) << i;
  }
}

TEST_P(Each, ResumesBitForBit) {
  Trained<float> through(GetParam().name, GetParam().given);
  Trained<float> stopped(GetParam().name, GetParam().given);
  for (int t = 1; t <= 3; ++t) {
    for (Trained<float>* run : {&through, &stopped}) run->step(t, {0, count}, 0.1);
    for (Trained<float>* run : {&through, &stopped}) run->step(t, {20, 70}, 0.1);
  }
  base::Archive archive;
  stopped.optimizer->save(archive);
  Trained<float> resumed(GetParam().name, GetParam().given);
  resumed.optimizer->load(archive);
  resumed.weights = stopped.weights;
  for (int t = 4; t <= 6; ++t)
    for (Trained<float>* run : {&through, &resumed}) run->step(t, {0, count}, 0.1);
  EXPECT_EQ(through.weights, resumed.weights);
}

TEST_P(Each, VectorsOfAnotherKindAreABug) {
  Trained<float> trained(GetParam().name, GetParam().given);
  std::vector<double> wide(count);
  std::vector<float> narrow(count);
  const Vector w{std::span(narrow)};
  EXPECT_THROW(trained.optimizer->step(w, Vector(std::span(wide)), {0, count}, 0.1), base::Error);
  EXPECT_THROW(trained.optimizer->step(w, w, {0, count + 1}, 0.1), base::Error);
  EXPECT_THROW(trained.optimizer->step(w[{0, 9}], w[{0, 9}], {0, 9}, 0.1), base::Error);
}

INSTANTIATE_TEST_SUITE_P(
    Optimizers, Each,
    testing::Values(Setting{"sgd", {{"momentum", 0.0}, {"weight_decay", 0.01}}},
                    Setting{"sgd", {{"weight_decay", 0.01}, {"decay", "matrices"}}},
                    Setting{"sgd", {{"nesterov", true}}},
                    Setting{"adam", {{"weight_decay", 0.01}, {"decay", "matrices"}}},
                    Setting{"adamw", {{"weight_decay", 0.1}, {"decay", "matrices"}}}),
    [](const auto& info) { return info.param.name + std::to_string(info.index); });

std::string refusal(std::string_view name, const Given& given) {
  try {
    Trained<float>(name, given);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Catalog, TellsTheMomentum) {
  const auto of = [](std::string_view name, const Given& given) {
    return momentum(base::Settings(name, optimizer(name).options, given));
  };
  EXPECT_EQ(of("sgd", {{"momentum", 0.75}}), 0.75);
  EXPECT_EQ(of("sgd", {{"momentum", 0.0}}), 0.0);
  EXPECT_EQ(of("adam", {}), std::nullopt);
  EXPECT_EQ(of("lars", {{"momentum", 0.0}}), std::nullopt);
}

TEST(Catalog, RefusesWhatExcludesEachOther) {
  EXPECT_EQ(refusal("sgd", {{"momentum", 0.0}, {"nesterov", true}}),
            "sgd.nesterov = true: needs a momentum above 0, such as momentum = 0.9");
  EXPECT_EQ(refusal("adam", {{"beta2", 1.0}}), "adam.beta2 = 1: must be below 1");
  EXPECT_EQ(refusal("adamw", {{"weight_decay", -1.0}}),
            "adamw.weight_decay = -1: must be at least 0");
  EXPECT_EQ(refusal("sdg", {}), "optimizer = sdg: no such optimizer; did you mean 'sgd'?");
}

TEST(Catalog, EachEntryIsCompleteAndMakesItself) {
  EXPECT_EQ(optimizers().size(), 5U);
  for (const Entry& entry : optimizers()) {
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.paper.empty());
    for (const base::Option& option : entry.options) EXPECT_FALSE(option.help.empty());
    EXPECT_NO_THROW(Trained<float>(entry.name, {}));
  }
}

}  // namespace
}  // namespace parajoule::optimize
