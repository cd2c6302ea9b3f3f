#include "optimize/moments.h"

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::optimize {
namespace {

double below_one(const base::Settings& settings, std::string_view table, std::string_view name) {
  const double beta = settings.number(name);
  if (beta >= 1)
    throw base::Error(base::Fault::usage,
                      fmt::format("{}.{} = {}: must be below 1", table, name, beta));
  return beta;
}

}  // namespace

Betas::Betas(const base::Settings& settings, std::string_view table)
    : first(below_one(settings, table, "beta1")),
      second(below_one(settings, table, "beta2")),
      epsilon(settings.number("epsilon")) {}

}  // namespace parajoule::optimize
