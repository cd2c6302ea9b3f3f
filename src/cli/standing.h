#pragma once

// Where a run stands, as the live line shows it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::cli {

/// Power and energy so far of the sources of one kind. Measured and modelled ones are never added.
struct Drawn {
  base::Watts power;
  base::Joules energy;
  bool operator==(const Drawn&) const = default;
};

struct Standing {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t step = 0;  ///< of this epoch, from 1
  std::int64_t steps = 0;
  double loss = 0;                                ///< over about the last five seconds
  std::optional<double> top1_error_percent = {};  ///< of the same samples
  double samples_per_second = 0;                  ///< 0: not known yet
  std::optional<Drawn> measured = {};
  std::optional<Drawn> modelled = {};
  std::optional<base::Seconds> left = {};
  bool evaluating = false;  ///< training waits for the epoch's evaluation

  bool operator==(const Standing&) const = default;
};

/// One line that `parse_standing` reads back, for the launcher, which owns the terminal.
std::string message(const Standing& standing);

/// None if `line` is no such message but something for a person.
std::optional<Standing> parse_standing(std::string_view line);

}  // namespace parajoule::cli
