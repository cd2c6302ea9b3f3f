// LARS and LAMB against their papers' formulas, layer by layer in long double.

#include <cmath>
#include <deque>
#include <functional>
#include <map>
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
using Numbers = std::vector<long double>;

/// A layer that starts as zero among others.
schedule::Layout layout() {
  using schedule::Kind;
  return {.parameters =
              {{.name = "conv", .shape = {4, 9}, .range = {0, 36}},
               {.name = "scale", .shape = {4}, .range = {36, 40}, .kind = Kind::normalisation},
               {.name = "linear", .shape = {3, 5}, .range = {40, 55}},
               {.name = "bias", .shape = {3}, .range = {55, 58}, .kind = Kind::bias}},
          .buffers = {}};
}
constexpr std::size_t count = 58;
constexpr double rates[] = {0.1, 0.1, 0.05, 0.2, 0.2, 0.02};

bool is_vector(const schedule::Parameter& parameter) {
  return parameter.kind == schedule::Kind::bias || parameter.kind == schedule::Kind::normalisation;
}

template <class T>
struct Trained {
  std::deque<std::vector<T>> store;
  std::vector<T> weights = std::vector<T>(count);
  std::unique_ptr<Optimizer> optimizer;

  Trained(std::string_view name, const Given& given) {
    base::Stream stream{1};
    for (T& weight : weights) weight = T(float(stream.normal()));
    std::fill(weights.begin() + 55, weights.end(), T(0));
    const Entry& entry = optimize::optimizer(name);
    optimizer = entry.make({name, entry.options, given}, layout(), [this](std::size_t elements) {
      return Vector(std::span(store.emplace_back(elements)));
    });
  }

  /// Of step 3 those of "linear" are zero.
  static std::vector<T> gradients(int t) {
    base::Stream stream{2, std::uint64_t(t)};
    std::vector<T> values(count);
    for (T& value : values) value = T(float(stream.normal()));
    if (t == 3) std::fill(values.begin() + 40, values.begin() + 55, T(0));
    return values;
  }

  void step(int t, Range range) {
    std::vector<T> values = gradients(t);
    optimizer->step(Vector(std::span(weights)), Vector(std::span(values)), range, rates[t - 1]);
  }
};

long double norm_of(const Numbers& values) {
  long double sum = 0;
  for (long double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// One layer in the paper's symbols.
struct Layer {
  Numbers w, v, m;
  bool adapted;
  long double lambda;
};
using Rule = std::function<void(Layer&, const Numbers& g, int t, double rate)>;

std::vector<Layer> layers_of(const std::vector<double>& weights, const base::Settings& settings) {
  std::vector<Layer> layers;
  for (const auto& parameter : layout().parameters) {
    const Range range = parameter.range;
    const Numbers w(weights.begin() + long(range.begin), weights.begin() + long(range.end));
    const bool spared = is_vector(parameter);
    layers.push_back({.w = w,
                      .v = Numbers(w.size()),
                      .m = Numbers(w.size()),
                      .adapted = settings.word("adapt") == "all" || !spared,
                      .lambda = settings.word("decay") == "all" || !spared
                                    ? settings.number("weight_decay")
                                    : 0});
  }
  return layers;
}

template <class T>
void compare(std::string_view name, const Given& given, const Rule& rule, double tolerance) {
  Trained<T> trained(name, given);
  std::vector<Layer> layers = layers_of({trained.weights.begin(), trained.weights.end()},
                                        base::Settings(name, optimizer(name).options, given));
  for (int t = 1; t <= int(std::size(rates)); ++t) {
    const std::vector<T> gradients = Trained<T>::gradients(t);
    std::size_t at = 0;
    for (Layer& layer : layers) {
      const Numbers g(gradients.begin() + long(at), gradients.begin() + long(at + layer.w.size()));
      rule(layer, g, t, rates[t - 1]);
      at += layer.w.size();
    }
    trained.step(t, {0, count});
    at = 0;
    for (const Layer& layer : layers)
      for (long double w : layer.w)
        ASSERT_NEAR(double(trained.weights[at++]), double(w), tolerance)
            << name << " step " << t << " element " << at - 1;
  }
}

void compare_all(std::string_view name, Given given, const Rule& rule) {
  for (const char* decay : {"all", "matrices"}) {
    for (const char* adapt : {"all", "matrices"}) {
      given["decay"] = std::string(decay);
      given["adapt"] = std::string(adapt);
      compare<double>(name, given, rule, 1e-13);
      compare<float>(name, given, rule, 2e-5);
    }
  }
}

/// The rate of a layer is eta |w| / (|g| + lambda |w|).
Rule lars(long double eta, long double mu) {
  return [=](Layer& layer, const Numbers& g, int, double rate) {
    const long double size = norm_of(layer.w);
    const long double below = norm_of(g) + layer.lambda * size;
    const bool plain = !layer.adapted || size == 0 || below == 0;
    const long double rho = plain ? 1 : eta * size / below;
    for (std::size_t i = 0; i < g.size(); ++i) {
      layer.v[i] = mu * layer.v[i] + rho * (g[i] + layer.lambda * layer.w[i]);
      layer.w[i] -= rate * layer.v[i];
    }
  };
}

TEST(Lars, FollowsItsFormulas) {
  compare_all("lars", {{"trust", 0.02}, {"weight_decay", 0.01}}, lars(0.02L, 0.9L));
  compare_all("lars", {{"momentum", 0.0}}, lars(0.001L, 0));
}

// A closed number: |w| = 5, |g| = 10, so rho = 0.1 * 5 / (10 + 0.2 * 5) = 1 / 22.
TEST(Lars, TheRateOfALayerFollowsFromItsNorms) {
  const Entry& entry = optimizer("lars");
  std::vector<double> velocity(2);
  const Given given{{"trust", 0.1}, {"weight_decay", 0.2}, {"momentum", 0.0}};
  const auto lars =
      entry.make({"lars", entry.options, given},
                 {.parameters = {{.name = "w", .shape = {2}, .range = {0, 2}}}, .buffers = {}},
                 [&](std::size_t) { return Vector(std::span(velocity)); });
  std::vector<double> weights{3, 4};
  std::vector<double> gradients{6, 8};
  lars->step(Vector(std::span(weights)), Vector(std::span(gradients)), {0, 2}, 2);
  EXPECT_NEAR(weights[0], 3 - 2.0 / 22 * (6 + 0.2 * 3), 1e-15);
  EXPECT_NEAR(weights[1], 4 - 2.0 / 22 * (8 + 0.2 * 4), 1e-15);
}

Rule lamb(long double beta1, long double beta2, long double epsilon) {
  return [=](Layer& layer, const Numbers& g, int t, double rate) {
    Numbers u(g.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
      layer.m[i] = beta1 * layer.m[i] + (1 - beta1) * g[i];
      layer.v[i] = beta2 * layer.v[i] + (1 - beta2) * g[i] * g[i];
      const long double m = layer.m[i] / (1 - std::pow(beta1, t));
      const long double v = layer.v[i] / (1 - std::pow(beta2, t));
      u[i] = m / (std::sqrt(v) + epsilon) + layer.lambda * layer.w[i];
    }
    const long double above = norm_of(layer.w);
    const long double below = norm_of(u);
    const bool plain = !layer.adapted || above == 0 || below == 0;
    const long double phi = plain ? 1 : above / below;
    for (std::size_t i = 0; i < g.size(); ++i) layer.w[i] -= rate * phi * u[i];
  };
}

TEST(Lamb, FollowsItsFormulas) {
  compare_all("lamb", {}, lamb(0.9L, 0.999L, 1e-6L));
  compare_all("lamb", {{"beta1", 0.5}, {"beta2", 0.9}, {"epsilon", 1e-3}, {"weight_decay", 0.3}},
              lamb(0.5L, 0.9L, 1e-3L));
}

class Layerwise : public testing::TestWithParam<const char*> {};

TEST_P(Layerwise, WholeLayersInAnyOrderAreTheSameStep) {
  Trained<float> whole(GetParam(), {});
  Trained<float> parts(GetParam(), {});
  for (int t = 1; t <= 6; ++t) {
    whole.step(t, {0, count});
    parts.step(t, {40, count});
    parts.step(t, {36, 36});
    parts.step(t, {0, 36});
    parts.step(t, {36, 40});
    ASSERT_EQ(whole.weights, parts.weights) << "step " << t;
  }
}

TEST_P(Layerwise, ARangeThatCutsALayerIsRefusedAndChangesNothing) {
  Trained<float> trained(GetParam(), {});
  const std::vector<float> before = trained.weights;
  for (Range range : {Range{0, 35}, Range{1, 36}, Range{36, 41}, Range{50, 52}}) {
    try {
      trained.step(1, range);
      ADD_FAILURE() << range.begin << " to " << range.end;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      EXPECT_NE(std::string(error.what()).find("it needs the norm of the whole of '"),
                std::string::npos);
    }
  }
  EXPECT_EQ(trained.weights, before);
}

TEST_P(Layerwise, ResumesBitForBit) {
  Trained<float> through(GetParam(), {});
  Trained<float> stopped(GetParam(), {});
  for (int t = 1; t <= 3; ++t)
    for (Trained<float>* run : {&through, &stopped}) run->step(t, {0, count});
  base::Archive archive;
  stopped.optimizer->save(archive);
  Trained<float> resumed(GetParam(), {});
  resumed.optimizer->load(archive);
  resumed.weights = stopped.weights;
  for (int t = 4; t <= 6; ++t)
    for (Trained<float>* run : {&through, &resumed}) run->step(t, {0, count});
  EXPECT_EQ(through.weights, resumed.weights);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, Layerwise, testing::Values("lars", "lamb"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace parajoule::optimize
