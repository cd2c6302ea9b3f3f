#pragma once

// What the numbers of a node say against each other.

#include <span>

#include "meter/account.h"

namespace parajoule::meter {

/// Adds to the remarks of sources:
/// - two counters or two powers of one device that lie further apart than both are unsure (biases
///   left out where the sensors are of one type, for then they have the same);
/// - measured parts of a device whose sum exceeds it by more than both are unsure;
/// - memories alike in name of which one draws ten times as much as another, and 50 W more: on
///   some processors a memory reads 200 W that draws 6 W (PAPI, pull request 635).
void tell_contradictions(std::span<SourceAccount> sources);

}  // namespace parajoule::meter
