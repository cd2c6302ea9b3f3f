#pragma once

// Least squares: lines, several regressors, and what they let one say.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/moments.h"

namespace parajoule::report {

/// Polynomials of high degree lose ten digits on the way: extended precision has them to lose.
using Extended = long double;

/// One row an observation, one number a regressor. A constant is a regressor of ones.
using Design = std::vector<std::vector<Extended>>;

/// Rows (1, x).
Design line_design(std::span<const double> x);

struct Coefficient {
  double estimate;
  double standard_error;
  double half_width;  ///< of Student's 95 % interval
  double p;           ///< of an estimate as far from zero, if it were zero
};

struct Fit {
  std::vector<Coefficient> coefficients;
  std::vector<double> residuals;  ///< observed minus fitted
  double residual_deviation;      ///< square root of the sum of squares over the degrees
  double sum_of_squares;          ///< of the residuals, weighted
  double r_squared;  ///< about the weighted mean if there is a constant regressor, else about zero
  int degrees;       ///< observations minus regressors
  std::vector<std::vector<double>> unscaled_covariance;  ///< inverse of X'WX

  double at(std::span<const double> row) const;
};

/// Ordinary least squares, or with `weights` (inverse variances up to a factor) the weighted. By
/// Householder's QR in extended precision on columns scaled to length one. None if no degree of
/// freedom is left, a number is not finite, or the regressors depend on each other.
std::optional<Fit> fit(const Design& rows, std::span<const double> observed,
                       std::span<const double> weights = {});

/// Half of the 95 % interval of the line itself at a row, and of one more observation there.
double half_width_of_line(const Fit& fit, std::span<const double> row);
double half_width_of_prediction(const Fit& fit, std::span<const double> row);

/// For each regressor, 1 / (1 - R²) of its regression on all others; infinite if these give it
/// exactly. That of a constant is nothing and is 1.
std::vector<double> variance_inflation(const Design& rows);

/// Fisher's test of nested models: does leaving regressors out cost more than chance?
struct Nested {
  double f;
  int more;     ///< regressors that the fuller model has beyond the other
  int degrees;  ///< of the fuller model
  double p;
};

/// Whether one line suffices for all groups, against a line for each. None unless at least two
/// groups have lines of their own and a degree of freedom is left.
std::optional<Nested> one_line_suffices(std::span<const std::vector<double>> x,
                                        std::span<const std::vector<double>> y);

}  // namespace parajoule::report
