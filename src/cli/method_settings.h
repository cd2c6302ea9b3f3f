#pragma once

#include <string>

#include "base/settings.h"
#include "cli/collected.h"

namespace parajoule::cli {

/// What was set for the method `strategy`, with the options of `overlap` if it sums gradients
/// during the backward pass. Throws Error{usage} if an overlap was asked of one that does not.
base::Settings method_settings(const Collected& collected, const std::string& strategy,
                               const std::string& overlap);

/// Throws Error{usage} that names both if the rule of the method `strategy` does not hold with this
/// optimizer.
void check_optimizer(const std::string& strategy, const std::string& optimizer,
                     const base::Settings& settings);

}  // namespace parajoule::cli
