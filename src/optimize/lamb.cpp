// LAMB. Y. You et al.: "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes",
// ICLR 2020, arXiv:1904.00962, algorithm 2, with phi the identity. For each layer
//
//   m <- beta_1 m + (1 - beta_1) g
//   v <- beta_2 v + (1 - beta_2) g^2
//   u <- (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon) + lambda w
//   w <- w - lr (|w| / |u|) u
//
// The ratio is 1 where |w| or |u| is zero, and for biases and normalisation if `adapt` spares them:
// ours, the paper says nothing of it. A layer is a parameter.
#include "optimize/lamb.h"

#include <cmath>

#include "optimize/decay.h"
#include "optimize/layers.h"
#include "optimize/moments.h"

namespace parajoule::optimize {
namespace {

/// u goes to `change`.
template <class T>
[[gnu::always_inline]] inline void loop(const Elements<T>& e, const Coefficients<T>& c,
                                        T* __restrict change) {
  const T* __restrict w = e.weights;
  const T* __restrict g = e.gradients;
  T* __restrict m = e.first;
  T* __restrict v = e.second;
  for (std::size_t i = 0; i < e.count; ++i) {
    m[i] = c.beta1 * m[i] + c.rest1 * g[i];
    v[i] = c.beta2 * v[i] + c.rest2 * (g[i] * g[i]);
    change[i] = c.rate * m[i] / (std::sqrt(v[i]) / c.root + c.epsilon) + c.decay * w[i];
  }
}

// Plain functions, because only those are compiled for several instruction sets; with a name that
// no other file has, because clang 16 shares what chooses between them by the name alone.
PARAJOULE_VECTORISED void change_of_lamb(const Elements<float>& e, const Coefficients<float>& c,
                                         float* change) {
  loop(e, c, change);
}
PARAJOULE_VECTORISED void change_of_lamb(const Elements<double>& e, const Coefficients<double>& c,
                                         double* change) {
  loop(e, c, change);
}

class Lamb final : public Optimizer {
 public:
  Lamb(const base::Settings& settings, const schedule::Layout& layout, const Memory& memory)
      : betas_(settings, "lamb"),
        layers_("lamb", settings, layout),
        decay_(settings, layout),
        moments_(layout.parameter_count(), memory),
        change_(memory(layers_.longest())) {}

  void step(base::Vector weights, base::Vector gradients, base::Range range, double rate) override {
    ensure_whole(weights, gradients, moments_.first.count());
    for (const Layers::Layer& layer : layers_.within(range)) {
      const base::Vector w = weights[layer.range];
      const base::Vector u = change_[{0, w.count()}];
      if (w.element() == base::Element::float64)
        find_change<double>(weights, gradients, layer.range);
      else
        find_change<float>(weights, gradients, layer.range);
      w.add(u, -rate * (layer.adapted ? ratio(norm(w), norm(u)) : 1));
    }
  }

  void save(base::Archive& archive) const override { moments_.save(archive); }
  void load(const base::Archive& archive) override { moments_.load(archive); }

 private:
  template <class T>
  void find_change(base::Vector weights, base::Vector gradients, base::Range layer) {
    const double decay = decay_.within(layer).front().strength;
    T* const change = change_.as<T>().data();
    for (const StepCounts::Counted& counted : moments_.steps.advance(layer))
      change_of_lamb(elements<T>(weights, gradients, moments_, counted.range),
                     Coefficients<T>(betas_, counted.steps, 1, decay),
                     change + (counted.range.begin - layer.begin));
  }

  Betas betas_;
  Layers layers_;
  Decay decay_;
  Moments moments_;
  base::Vector change_;
};

}  // namespace

std::unique_ptr<Optimizer> make_lamb(const base::Settings& settings, const schedule::Layout& layout,
                                     const Memory& memory) {
  return std::make_unique<Lamb>(settings, layout, memory);
}

}  // namespace parajoule::optimize
