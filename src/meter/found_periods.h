#pragma once

// How often the devices of this machine renewed their numbers when `parajoule sensors` watched
// them: kept in a file, and taken by a later run for what a device does not say.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

struct FoundPeriod {
  std::string covers;  ///< of the source, by which it is known again
  base::Seconds period;
  std::string seen_utc;  ///< when
};

/// None if there is no such file or it is not ours: it is made anew by the next `sensors`.
std::vector<FoundPeriod> found_periods(const std::filesystem::path& file);

/// Replaces the file as a whole. Throws Error{environment} with the reason if it cannot.
void keep_found_periods(const std::filesystem::path& file, std::span<const FoundPeriod> periods);

struct TakenPeriod {
  std::size_t source;  ///< place in the list
  base::Seconds period;
  std::string seen_utc;
};

/// Gives each source a period that was found for it, if it states none or a shorter one.
std::vector<TakenPeriod> take_periods(std::vector<std::unique_ptr<Source>>& sources,
                                      std::span<const FoundPeriod> found);

}  // namespace parajoule::meter
