#include "cli/method_settings.h"

#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "optimize/catalog.h"
#include "strategy/catalog.h"

namespace parajoule::cli {

base::Settings method_settings(const Collected& collected, const std::string& strategy,
                               const std::string& overlap) {
  const auto& method = strategy::method(strategy);
  auto given = collected.values(strategy);
  const auto said = collected.table("").find("overlap");
  if (method.overlaps()) {
    given["overlap"] = overlap;
    given.merge(collected.values(overlap));
  } else if (said != collected.table("").end()) {
    throw base::Error(base::Fault::usage,
                      fmt::format("{}: overlap = {}: {} sums no gradients during the backward "
                                  "pass; leave it out",
                                  said->second.place, overlap, strategy));
  }
  return base::Settings(strategy, method.options, given);
}

void check_optimizer(const std::string& strategy, const std::string& optimizer,
                     const base::Settings& settings) {
  const auto check = strategy::method(strategy).check_optimizer;
  if (!check) return;
  const std::optional<double> momentum = optimize::momentum(settings);
  try {
    check(momentum);
  } catch (const base::Error& error) {
    const std::string with = momentum ? fmt::format(" with momentum = {}", *momentum) : "";
    throw base::Error(error.fault,
                      fmt::format("optimizer = {}{}: {}", optimizer, with, error.what()));
  }
}

}  // namespace parajoule::cli
