#pragma once

// The state that Adam and its kin keep: running means of the gradients and of their squares.

#include <cmath>

#include "base/archive.h"
#include "base/settings.h"
#include "base/vector.h"
#include "optimize/optimizer.h"
#include "optimize/step_counts.h"

namespace parajoule::optimize {

struct Moments {
  base::Vector first;   ///< m, as long as the weights
  base::Vector second;  ///< v
  StepCounts steps;     ///< t of each element

  Moments(std::size_t parameters, const Memory& memory)
      : first(memory(parameters)), second(memory(parameters)), steps(parameters) {}

  void save(base::Archive& archive) const {
    archive.put("first_moment", first);
    archive.put("second_moment", second);
    steps.save(archive);
  }
  void load(const base::Archive& archive) {
    archive.get("first_moment", first);
    archive.get("second_moment", second);
    steps.load(archive);
  }
};

/// beta_1, beta_2 and epsilon of the paper.
struct Betas {
  double first;
  double second;
  double epsilon;

  /// Throws Error{usage} that names `table` unless both betas are below 1.
  Betas(const base::Settings& settings, std::string_view table);
};

/// What one pass over a piece of the vector needs, in its precision. `rate` has the correction of
/// the first moment in it, `root` that of the second: lr / (1 - beta_1^t) and sqrt(1 - beta_2^t).
template <class T>
struct Coefficients {
  T beta1, beta2, rest1, rest2;  ///< rest is 1 - beta
  T rate, root, epsilon;
  T decay;

  Coefficients(const Betas& betas, std::int64_t step, double learning_rate, double decay)
      : beta1(T(betas.first)),
        beta2(T(betas.second)),
        rest1(T(1 - betas.first)),
        rest2(T(1 - betas.second)),
        rate(T(learning_rate / (1 - std::pow(betas.first, double(step))))),
        root(T(std::sqrt(1 - std::pow(betas.second, double(step))))),
        epsilon(T(betas.epsilon)),
        decay(T(decay)) {}
};

/// The memory of one piece: all of the same length.
template <class T>
struct Elements {
  std::size_t count;
  T* weights;
  const T* gradients;
  T* first;
  T* second;
};

template <class T>
Elements<T> elements(base::Vector weights, base::Vector gradients, Moments& moments,
                     base::Range range) {
  return {range.size(), weights[range].as<T>().data(), gradients[range].as<T>().data(),
          moments.first[range].as<T>().data(), moments.second[range].as<T>().data()};
}

}  // namespace parajoule::optimize
