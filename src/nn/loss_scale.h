#pragma once

// Keeps small gradients of float16 from vanishing.

#include <cstdint>

#include "base/archive.h"
#include "nn/precision.h"

namespace parajoule::nn {

enum class Overflow : std::uint8_t { none, found };

/// Dynamic loss scaling (Micikevicius et al. 2018, arXiv:1710.03740): the loss is multiplied by a
/// scale before the backward pass and the gradients are divided by it as they land. Gradients that
/// are not finite then cost the step: it is skipped and the scale halved. Ranks that update
/// together give `proceed` the same `Overflow`: gradients that were summed are equal on all of
/// them.
class LossScale {
 public:
  struct Options {
    double start = 65536;
    double most = 16777216;
    std::int64_t growth_steps = 2000;  ///< without overflow, then the scale doubles
    int give_up_after = 20;            ///< halvings in a row
  };

  /// float16 scales; for all others the scale is 1 and stays 1.
  explicit LossScale(Precision precision);
  LossScale(Precision precision, const Options& options);

  double scale() const { return scale_; }

  /// What this rank has to say about its gradients. Does not look where nothing is scaled.
  Overflow check(base::Vector gradients) const;

  enum class Step : std::uint8_t { take, skip };

  /// Moves the scale by what all ranks agreed on. Throws Error{not_a_number} after so many
  /// halvings in a row.
  Step proceed(Overflow agreed);

  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

 private:
  Options options_;
  bool scales_;
  double scale_;
  std::int64_t steps_ = 0;  ///< since the scale last moved
  int halvings_ = 0;        ///< in a row
};

}  // namespace parajoule::nn
