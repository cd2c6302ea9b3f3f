#include "report/regression.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "base/error.h"

namespace parajoule::report {
namespace {

using Real = Extended;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

struct System {
  Matrix rows;    ///< times the square roots of the weights, columns scaled to length one
  Vector wanted;  ///< times the same
  Vector lengths;
};

template <class Values>
bool finite(const Values& values) {
  return std::ranges::all_of(values, [](Real value) { return std::isfinite(value); });
}

std::optional<System> system_of(const Design& rows, std::span<const double> observed,
                                std::span<const double> weights) {
  base::ensure(rows.size() == observed.size(), "an observation a row");
  base::ensure(weights.empty() || weights.size() == observed.size(), "a weight a row");
  if (rows.empty() || rows.size() <= rows.front().size() || !finite(observed)) return {};
  const auto count = Eigen::Index(rows.size()), width = Eigen::Index(rows.front().size());
  System system{Matrix(count, width), Vector(count), Vector(width)};
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto& row = rows[std::size_t(i)];
    const double weight = weights.empty() ? 1 : weights[std::size_t(i)];
    if (!finite(row) || !std::isfinite(weight) || weight <= 0) return {};
    const Real root = std::sqrt(Real(weight));
    for (Eigen::Index j = 0; j < width; ++j) system.rows(i, j) = root * row[std::size_t(j)];
    system.wanted(i) = root * Real(observed[std::size_t(i)]);
  }
  for (Eigen::Index j = 0; j < width; ++j) {
    system.lengths(j) = system.rows.col(j).norm();
    if (!(system.lengths(j) > 0)) return {};
    system.rows.col(j) /= system.lengths(j);
  }
  return system;
}

bool has_constant(const Design& rows) {
  for (std::size_t j = 0; j < rows.front().size(); ++j) {
    const auto equal = [&](const auto& row) { return row[j] == rows.front()[j]; };
    if (rows.front()[j] != 0 && std::ranges::all_of(rows, equal)) return true;
  }
  return false;
}

/// The sum of squares that the residuals are compared with.
Real total_of(const Design& rows, std::span<const double> observed,
              std::span<const double> weights) {
  Real mean = 0, weight_of_all = 0;
  const auto weight = [&](std::size_t i) { return weights.empty() ? Real(1) : Real(weights[i]); };
  if (has_constant(rows)) {
    for (std::size_t i = 0; i < observed.size(); ++i) {
      mean += weight(i) * Real(observed[i]);
      weight_of_all += weight(i);
    }
    mean /= weight_of_all;
  }
  Real total = 0;
  for (std::size_t i = 0; i < observed.size(); ++i)
    total += weight(i) * (Real(observed[i]) - mean) * (Real(observed[i]) - mean);
  return total;
}

double p_of(double t, int degrees) {
  if (!std::isfinite(t)) return 0;
  const boost::math::students_t distribution(degrees);
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::fabs(t)));
}

/// What is left of a column beside all others, in units of its length, below which it is none.
constexpr Real least_pivot = 1e-15L;

double spread(const Fit& fit, std::span<const double> row, double own) {
  base::ensure(row.size() == fit.coefficients.size(), "a number a regressor");
  double form = own;
  for (std::size_t i = 0; i < row.size(); ++i)
    for (std::size_t j = 0; j < row.size(); ++j)
      form += row[i] * fit.unscaled_covariance[i][j] * row[j];
  return student(fit.degrees) * fit.residual_deviation * std::sqrt(std::max(form, 0.0));
}

}  // namespace

Design line_design(std::span<const double> x) {
  Design rows;
  for (const double value : x) rows.push_back({1, value});
  return rows;
}

double Fit::at(std::span<const double> row) const {
  base::ensure(row.size() == coefficients.size(), "a number a regressor");
  double sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) sum += row[i] * coefficients[i].estimate;
  return sum;
}

std::optional<Fit> fit(const Design& rows, std::span<const double> observed,
                       std::span<const double> weights) {
  const auto system = system_of(rows, observed, weights);
  if (!system) return {};
  const Eigen::ColPivHouseholderQR<Matrix> factors(system->rows);
  const Eigen::Index width = system->rows.cols();
  for (Eigen::Index j = 0; j < width; ++j)
    if (!(std::fabs(factors.matrixQR()(j, j)) > least_pivot)) return {};
  const Vector scaled = factors.solve(system->wanted);
  const Vector left = system->wanted - system->rows * scaled;
  const Matrix root = factors.matrixR().topRows(width).template triangularView<Eigen::Upper>();
  const Matrix inverse =
      root.template triangularView<Eigen::Upper>().solve(Matrix::Identity(width, width));
  const Matrix turned = factors.colsPermutation() * inverse;
  const Matrix covariance = turned * turned.transpose();

  Fit result;
  result.degrees = int(rows.size()) - int(width);
  const Real squares = left.squaredNorm();
  result.sum_of_squares = double(squares);
  result.residual_deviation = double(std::sqrt(squares / Real(result.degrees)));
  const Real total = total_of(rows, observed, weights);
  result.r_squared = total > 0 ? double(1 - squares / total) : 1;
  const double reach = student(result.degrees);
  for (Eigen::Index j = 0; j < width; ++j) {
    const double estimate = double(scaled(j) / system->lengths(j));
    const double error =
        double(std::sqrt(covariance(j, j)) / system->lengths(j)) * result.residual_deviation;
    result.coefficients.push_back(
        {estimate, error, reach * error, p_of(estimate / error, result.degrees)});
    std::vector<double> line;
    for (Eigen::Index k = 0; k < width; ++k)
      line.push_back(double(covariance(j, k) / system->lengths(j) / system->lengths(k)));
    result.unscaled_covariance.push_back(std::move(line));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Real weight = weights.empty() ? Real(1) : Real(weights[i]);
    result.residuals.push_back(double(left(Eigen::Index(i)) / std::sqrt(weight)));
  }
  return result;
}

double half_width_of_line(const Fit& fit, std::span<const double> row) {
  return spread(fit, row, 0);
}

double half_width_of_prediction(const Fit& fit, std::span<const double> row) {
  return spread(fit, row, 1);
}

std::vector<double> variance_inflation(const Design& rows) {
  base::ensure(!rows.empty(), "regressors have rows");
  std::vector<double> factors;
  for (std::size_t j = 0; j < rows.front().size(); ++j) {
    Design others;
    std::vector<double> own;
    for (const auto& row : rows) {
      own.push_back(double(row[j]));
      others.push_back(row);
      others.back().erase(others.back().begin() + std::ptrdiff_t(j));
    }
    if (std::ranges::adjacent_find(own, std::not_equal_to<>()) == own.end()) {
      factors.push_back(1);
      continue;
    }
    const auto found = others.front().empty() ? std::nullopt : fit(others, own);
    const double left = found ? 1 - found->r_squared : 0;
    factors.push_back(left > 1e-12 ? 1 / left : std::numeric_limits<double>::infinity());
  }
  return factors;
}

std::optional<Nested> one_line_suffices(std::span<const std::vector<double>> x,
                                        std::span<const std::vector<double>> y) {
  std::vector<double> all_x, all_y;
  double apart = 0;
  int degrees = 0, lines = 0;
  for (std::size_t group = 0; group < x.size(); ++group) {
    const auto own = fit(line_design(x[group]), y[group]);
    if (!own) continue;
    apart += own->sum_of_squares;
    degrees += own->degrees;
    ++lines;
    all_x.insert(all_x.end(), x[group].begin(), x[group].end());
    all_y.insert(all_y.end(), y[group].begin(), y[group].end());
  }
  if (lines < 2) return {};
  const auto together = fit(line_design(all_x), all_y);
  if (!together || apart <= 0) return {};
  const int more = 2 * (lines - 1);
  const double f = (together->sum_of_squares - apart) / more / (apart / degrees);
  const boost::math::fisher_f distribution(more, degrees);
  return Nested{f, more, degrees,
                boost::math::cdf(boost::math::complement(distribution, std::max(f, 0.0)))};
}

}  // namespace parajoule::report
