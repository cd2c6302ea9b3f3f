// Stochastic gradient descent with momentum. I. Sutskever, J. Martens, G. Dahl, G. Hinton: "On the
// importance of initialization and momentum in deep learning", ICML 2013; written, as PyTorch does,
// with the learning rate outside of the velocity, so that a change of rate acts at once.
//
//   g <- g + lambda w
//   v <- mu v + g                      v is zero before the first step
//   w <- w - lr v                      momentum
//   w <- w - lr (g + mu v)             Nesterov's momentum
//   w <- w - lr g                      mu = 0, no v is kept
#include "optimize/sgd.h"

#include <fmt/format.h>

#include "base/error.h"
#include "optimize/decay.h"

namespace parajoule::optimize {
namespace {

template <class T>
struct Piece {
  std::size_t count;
  T* weights;
  const T* gradients;
  T* velocity;
  T rate, momentum, decay;
};

template <class T>
[[gnu::always_inline]] inline void plain_loop(const Piece<T>& p) {
  T* __restrict w = p.weights;
  const T* __restrict g = p.gradients;
  for (std::size_t i = 0; i < p.count; ++i) w[i] -= p.rate * (g[i] + p.decay * w[i]);
}

template <class T>
[[gnu::always_inline]] inline void momentum_loop(const Piece<T>& p) {
  T* __restrict w = p.weights;
  const T* __restrict g = p.gradients;
  T* __restrict v = p.velocity;
  for (std::size_t i = 0; i < p.count; ++i) {
    v[i] = p.momentum * v[i] + (g[i] + p.decay * w[i]);
    w[i] -= p.rate * v[i];
  }
}

template <class T>
[[gnu::always_inline]] inline void nesterov_loop(const Piece<T>& p) {
  T* __restrict w = p.weights;
  const T* __restrict g = p.gradients;
  T* __restrict v = p.velocity;
  for (std::size_t i = 0; i < p.count; ++i) {
    const T gradient = g[i] + p.decay * w[i];
    v[i] = p.momentum * v[i] + gradient;
    w[i] -= p.rate * (gradient + p.momentum * v[i]);
  }
}

// Plain functions, because only those are compiled for several instruction sets.
PARAJOULE_VECTORISED void plain(const Piece<float>& p) { plain_loop(p); }
PARAJOULE_VECTORISED void plain(const Piece<double>& p) { plain_loop(p); }
PARAJOULE_VECTORISED void momentum(const Piece<float>& p) { momentum_loop(p); }
PARAJOULE_VECTORISED void momentum(const Piece<double>& p) { momentum_loop(p); }
PARAJOULE_VECTORISED void nesterov(const Piece<float>& p) { nesterov_loop(p); }
PARAJOULE_VECTORISED void nesterov(const Piece<double>& p) { nesterov_loop(p); }

class Sgd final : public Optimizer {
 public:
  Sgd(const base::Settings& settings, const schedule::Layout& layout, const Memory& memory)
      : momentum_(settings.number("momentum")),
        nesterov_(settings.flag("nesterov")),
        parameters_(layout.parameter_count()),
        decay_(settings, layout) {
    if (nesterov_ && momentum_ == 0)
      throw base::Error(base::Fault::usage,
                        "sgd.nesterov = true: needs a momentum above 0, such as momentum = 0.9");
    if (momentum_ != 0) velocity_ = memory(parameters_);
  }

  void step(base::Vector weights, base::Vector gradients, base::Range range, double rate) override {
    ensure_whole(weights, gradients, parameters_);
    if (weights.element() == base::Element::float64)
      step_as<double>(weights[range], gradients[range], range, rate);
    else
      step_as<float>(weights[range], gradients[range], range, rate);
  }

  void save(base::Archive& archive) const override {
    if (momentum_ != 0) archive.put("velocity", velocity_);
  }
  void load(const base::Archive& archive) override {
    if (momentum_ != 0) archive.get("velocity", velocity_);
  }

 private:
  template <class T>
  void step_as(base::Vector weights, base::Vector gradients, base::Range range, double rate) {
    T* const w = weights.as<T>().data();
    const T* const g = gradients.as<T>().data();
    T* const v = momentum_ == 0 ? nullptr : velocity_[range].as<T>().data();
    for (const Decay::Piece& part : decay_.within(range)) {
      const std::size_t at = part.range.begin - range.begin;
      const Piece<T> piece{part.range.size(), w + at,       g + at,          v ? v + at : v,
                           T(rate),           T(momentum_), T(part.strength)};
      if (momentum_ == 0)
        plain(piece);
      else if (nesterov_)
        nesterov(piece);
      else
        momentum(piece);
    }
  }

  double momentum_;
  bool nesterov_;
  std::size_t parameters_;
  Decay decay_;
  base::Vector velocity_;
};

}  // namespace

std::unique_ptr<Optimizer> make_sgd(const base::Settings& settings, const schedule::Layout& layout,
                                    const Memory& memory) {
  return std::make_unique<Sgd>(settings, layout, memory);
}

}  // namespace parajoule::optimize
