#pragma once

// From the readings of a span of time to energies and how sure they are. Works on rows, live or out
// of a record, so that a number can be computed again later.

#include <optional>
#include <span>
#include <string>
#include <string_view>
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

/// A number for several devices together, from a meter of its own: of a node, of the outlet that
/// feeds it, of a module with a processor and a GPU. It is a total beside the others and never
/// added to them.
struct Whole {
  std::size_t source;  ///< place in `NodeAccount::sources`
  /// What it has over the measured parts of the node. None of a module, whose parts are not known,
  /// of an outlet whose share is a guess, and where it speaks for less of the span than they do.
  std::optional<base::Joules> remainder = {};
  Uncertainty uncertainty = {};           ///< of `remainder`
  std::vector<std::string> remarks = {};  ///< parts that exceed it, or speak for less time
};

/// Whether a device of this kind is a whole: `node`, `outlet`, `module`.
bool is_whole(std::string_view device_kind);

/// The account of one node.
struct NodeAccount {
  Span span;
  std::vector<SourceAccount> sources;  ///< in the order given
  Totals totals;
  std::vector<Whole> wholes = {};
};

/// Decides what counts. A device that is part of another is left to that one, if that one covers as
/// much of the span; of several sources of one device a counter is taken before power, and the
/// first before others, unless they speak for more of the span. What a node's own meter says of
/// its processors, memory or GPUs counts only if nothing else meters any of them. Adds to the
/// remarks what numbers say against each other. From series the
/// counter and the power of a device are held against each other first: see cross_check.h.
NodeAccount total(std::vector<SourceAccount> sources, Span span);
NodeAccount account(std::span<const Series> series, Span span);

}  // namespace parajoule::meter
