// Adam. D. P. Kingma, J. L. Ba: "Adam: A Method for Stochastic Optimization", ICLR 2015,
// arXiv:1412.6980, algorithm 1. Weight decay is part of the gradient, and so of the moments.
//
//   g <- g + lambda w
//   m <- beta_1 m + (1 - beta_1) g
//   v <- beta_2 v + (1 - beta_2) g^2
//   w <- w - lr (m / (1 - beta_1^t)) / (sqrt(v / (1 - beta_2^t)) + epsilon)
//
// t counts the steps of each element by itself, so that ranges may be updated in any cut.
#include "optimize/adam.h"

#include <cmath>

#include "optimize/decay.h"
#include "optimize/moments.h"

namespace parajoule::optimize {
namespace {

template <class T>
[[gnu::always_inline]] inline void loop(const Elements<T>& e, const Coefficients<T>& c) {
  T* __restrict w = e.weights;
  const T* __restrict g = e.gradients;
  T* __restrict m = e.first;
  T* __restrict v = e.second;
  for (std::size_t i = 0; i < e.count; ++i) {
    const T gradient = g[i] + c.decay * w[i];
    m[i] = c.beta1 * m[i] + c.rest1 * gradient;
    v[i] = c.beta2 * v[i] + c.rest2 * (gradient * gradient);
    w[i] -= c.rate * m[i] / (std::sqrt(v[i]) / c.root + c.epsilon);
  }
}

// Plain functions, because only those are compiled for several instruction sets; with a name that
// no other file has, because clang 16 shares what chooses between them by the name alone.
PARAJOULE_VECTORISED void update_adam(const Elements<float>& e, const Coefficients<float>& c) {
  loop(e, c);
}
PARAJOULE_VECTORISED void update_adam(const Elements<double>& e, const Coefficients<double>& c) {
  loop(e, c);
}

class Adam final : public Optimizer {
 public:
  Adam(const base::Settings& settings, const schedule::Layout& layout, const Memory& memory)
      : betas_(settings, "adam"),
        decay_(settings, layout),
        moments_(layout.parameter_count(), memory) {}

  void step(base::Vector weights, base::Vector gradients, base::Range range, double rate) override {
    ensure_whole(weights, gradients, moments_.first.count());
    if (weights.element() == base::Element::float64)
      step_as<double>(weights, gradients, range, rate);
    else
      step_as<float>(weights, gradients, range, rate);
  }

  void save(base::Archive& archive) const override { moments_.save(archive); }
  void load(const base::Archive& archive) override { moments_.load(archive); }

 private:
  template <class T>
  void step_as(base::Vector weights, base::Vector gradients, base::Range range, double rate) {
    for (const StepCounts::Counted& counted : moments_.steps.advance(range))
      for (const Decay::Piece& piece : decay_.within(counted.range))
        update_adam(elements<T>(weights, gradients, moments_, piece.range),
                    Coefficients<T>(betas_, counted.steps, rate, piece.strength));
  }

  Betas betas_;
  Decay decay_;
  Moments moments_;
};

}  // namespace

std::unique_ptr<Optimizer> make_adam(const base::Settings& settings, const schedule::Layout& layout,
                                     const Memory& memory) {
  return std::make_unique<Adam>(settings, layout, memory);
}

}  // namespace parajoule::optimize
