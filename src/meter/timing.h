#pragma once

// What the readings of a run tell of the sensor they are from.

#include <optional>

#include "base/quantity.h"
#include "meter/account.h"

namespace parajoule::meter {

/// How often a sensor renews its number: from the moments at which the number changed. None if it
/// was read less than twice a period, so that every reading is another number, or if it changed too
/// rarely or at no regular moments, as a coarse number does.
std::optional<base::Seconds> found_update_period(const Series& series);

/// The window over which a power is averaged, with what it is shown late: the one for which the
/// means that the energy counter of the device shows come closest. None if the power hardly
/// changed, so that all windows fit, or if the window is finer than the counter.
std::optional<base::Seconds> found_window(const Series& power, const Series& counter);

}  // namespace parajoule::meter
