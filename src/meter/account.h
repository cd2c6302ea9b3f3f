#pragma once

// From the readings of a span of time to energies and how sure they are. Works on rows, live or out
// of a record, so that a number can be computed again later.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/figures.h"
#include "meter/source.h"
#include "meter/sweep.h"
#include "meter/total.h"

namespace parajoule::meter {

/// Moments on the clock of the rows.
struct Span {
  base::Seconds begin;
  base::Seconds end;
  base::Seconds length() const { return end - begin; }
};

/// A source with its rows, in the order of their moments.
struct Series {
  Description description;
  std::vector<Row> rows;
};

/// Sorts rows of many sources, as the sampler's sink or a record gives them. `Row::source` is the
/// place in `descriptions`.
std::vector<Series> by_source(std::span<const Description> descriptions, std::span<const Row> rows);

/// What one source says about a span.
struct SourceAccount {
  Description description;
  /// Of counters, end minus start, both interpolated; of power, by the trapezoid rule, each value
  /// set back by half the sensor's window. None if that cannot be had, or if a counter stood still:
  /// `remarks` says why. Never 0 for what is dead. None of sources of other quantities.
  std::optional<base::Joules> energy = {};
  std::optional<base::Watts> mean_power = {};
  std::optional<base::Watts> peak_power = {};  ///< of counters, highest over five updates
  Uncertainty uncertainty = {};                ///< of `energy`
  base::Seconds covered{0};                    ///< of the span, the time `energy` speaks for
  bool counts = false;                         ///< is in the total of its label
  std::vector<std::string> remarks = {};       ///< gaps, resets, standstill, shortness
};

/// Readings a little before and after the span make its ends sharper: give all there are. A span
/// without length is a bug.
SourceAccount account(const Series& series, Span span);

/// The account of one node.
struct NodeAccount {
  Span span;
  std::vector<SourceAccount> sources;  ///< in the order given
  Totals totals;
};

/// Decides what counts. A device that is part of another is left to that one, if that one covers as
/// much of the span; of two sources of one device, a counter is taken before power.
NodeAccount total(std::vector<SourceAccount> sources, Span span);
NodeAccount account(std::span<const Series> series, Span span);

}  // namespace parajoule::meter
