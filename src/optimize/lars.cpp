// LARS, layer-wise adaptive rate scaling. Y. You, I. Gitman, B. Ginsburg: "Large Batch Training of
// Convolutional Networks", 2017, arXiv:1708.03888, algorithm 1. For each layer
//
//   rho <- eta |w| / (|g| + lambda |w|)      eta: trust
//   v   <- mu v + rho (g + lambda w)         v is zero before the first step
//   w   <- w - lr v
//
// The paper has the learning rate inside of the velocity; outside, as in sgd, a change of rate acts
// at once and needs no correction (Goyal et al., arXiv:1706.02677, section 3), and with a constant
// rate it is the same. rho is 1 where |w| or what it is divided by is zero, and for biases and
// normalisation if `adapt` spares them: ours, the paper says nothing of it. A layer is a parameter.
#include "optimize/lars.h"

#include "optimize/decay.h"
#include "optimize/layers.h"

namespace parajoule::optimize {
namespace {

template <class T>
struct Piece {
  std::size_t count;
  T* weights;
  const T* gradients;
  T* velocity;
  T rate, scale, momentum, decay;
};

template <class T>
[[gnu::always_inline]] inline void loop(const Piece<T>& p) {
  T* __restrict w = p.weights;
  const T* __restrict g = p.gradients;
  T* __restrict v = p.velocity;
  for (std::size_t i = 0; i < p.count; ++i) {
    v[i] = p.momentum * v[i] + p.scale * (g[i] + p.decay * w[i]);
    w[i] -= p.rate * v[i];
  }
}

// Plain functions, because only those are compiled for several instruction sets; with a name that
// no other file has, because clang 16 shares what chooses between them by the name alone.
PARAJOULE_VECTORISED void update_lars(const Piece<float>& p) { loop(p); }
PARAJOULE_VECTORISED void update_lars(const Piece<double>& p) { loop(p); }

class Lars final : public Optimizer {
 public:
  Lars(const base::Settings& settings, const schedule::Layout& layout, const Memory& memory)
      : trust_(settings.number("trust")),
        momentum_(settings.number("momentum")),
        layers_("lars", settings, layout),
        decay_(settings, layout),
        velocity_(memory(layout.parameter_count())) {}

  void step(base::Vector weights, base::Vector gradients, base::Range range, double rate) override {
    ensure_whole(weights, gradients, velocity_.count());
    for (const Layers::Layer& layer : layers_.within(range))
      step_layer(weights, gradients, layer, rate);
  }

  void save(base::Archive& archive) const override { archive.put("velocity", velocity_); }
  void load(const base::Archive& archive) override { archive.get("velocity", velocity_); }

 private:
  void step_layer(base::Vector weights, base::Vector gradients, const Layers::Layer& layer,
                  double rate) {
    const base::Vector w = weights[layer.range];
    const base::Vector g = gradients[layer.range];
    const double decay = decay_.within(layer.range).front().strength;
    double scale = 1;
    if (layer.adapted) {
      const double size = norm(w);
      const double whole = norm(g) + decay * size;
      if (size > 0 && whole > 0) scale = trust_ * size / whole;
    }
    if (w.element() == base::Element::float64)
      update<double>(w, g, velocity_[layer.range], {rate, scale, momentum_, decay});
    else
      update<float>(w, g, velocity_[layer.range], {rate, scale, momentum_, decay});
  }

  struct Numbers {
    double rate, scale, momentum, decay;
  };
  template <class T>
  static void update(base::Vector w, base::Vector g, base::Vector v, Numbers n) {
    update_lars(Piece<T>{w.count(), w.as<T>().data(), g.as<T>().data(), v.as<T>().data(), T(n.rate),
                         T(n.scale), T(n.momentum), T(n.decay)});
  }

  double trust_;
  double momentum_;
  Layers layers_;
  Decay decay_;
  base::Vector velocity_;
};

}  // namespace

std::unique_ptr<Optimizer> make_lars(const base::Settings& settings, const schedule::Layout& layout,
                                     const Memory& memory) {
  return std::make_unique<Lars>(settings, layout, memory);
}

}  // namespace parajoule::optimize
