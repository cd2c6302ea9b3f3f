#pragma once

// Holds the energy counter of a device and its power against each other, where it has both.

#include <span>

#include "meter/account.h"

namespace parajoule::meter {

/// `accounts` are those of `series`, in their order. Says of each pair how far they agree. A
/// counter that stood still while power was drawn, or that slipped more than once, loses its
/// number, so that the power counts in its stead; the remarks of both say so.
void cross_check(std::span<const Series> series, std::span<SourceAccount> accounts, Span span);

}  // namespace parajoule::meter
