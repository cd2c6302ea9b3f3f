#pragma once

// Two sets of runs, configuration by configuration: is the second worse by more than is allowed?

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/point.h"

namespace parajoule::report {

/// "energy_joules>+3%": worse if it grows by more than three per cent; `<` if it falls.
struct Limit {
  std::string quantity;
  bool above;
  double percent;
};

/// Throws Error{usage} that names the quantities and shows the form.
Limit limit_of(std::string_view text);

enum class Judgement { within, worse, unknown };

struct Comparison {
  std::string quantity;
  int configurations = 0;                     ///< that both sets have, with this quantity
  int repeats = 0;                            ///< the fewest of any of them on either side
  std::optional<double> change_percent = {};  ///< second against first
  std::optional<double> half_width = {};      ///< of its 95 % interval, in per cent
};

/// Of one configuration, Welch's interval of the difference of the means; of several, Student's
/// over the logarithms of their ratios, each configuration a pair.
Comparison compared(const std::vector<Point>& first, const std::vector<Point>& second,
                    std::string_view quantity);

/// Worse, if the whole interval lies beyond the limit; within, if none of it does; else unknown.
Judgement judged(const Comparison& comparison, const Limit& limit);

/// energy_joules, wall_seconds, device_hours, joules_per_sample, error.
const std::vector<std::string_view>& compared_quantities();

}  // namespace parajoule::report
