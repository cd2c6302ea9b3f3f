#pragma once

// One round over all sources after the other, without a thread: what the sampler does at each tick.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

/// One reading in the words of the record: one member a column of its table `reading`; the variant
/// makes the two columns `value` and `gap`.
struct Row {
  std::size_t source;  ///< place in the list of sources
  /// Since the start, on the node's monotonic clock: the middle of the read, or when the number was
  /// taken if that was before.
  base::Seconds at;
  Reading reading;
  bool operator==(const Row&) const = default;
};

/// The clocks of a node as functions, so that tests bring their own.
struct Clock {
  std::function<base::Seconds()> now;     ///< monotonic; stands still while the machine sleeps
  std::function<base::Seconds()> asleep;  ///< time the machine has slept since it was started
};

/// CLOCK_MONOTONIC from `start` on, and what CLOCK_BOOTTIME is ahead of it.
Clock node_clock(std::chrono::steady_clock::time_point start);

/// Reads each source that is due. A source is not read more often than it renews its number, and
/// one that keeps failing only once a second. Used from one thread.
class Sweep {
 public:
  Sweep(std::vector<std::unique_ptr<Source>> sources, Clock clock, base::Seconds period);

  /// The rows of one round, those that say why readings are missing included.
  std::vector<Row> round();

  /// The same for all sources, due or not: at both ends of a run.
  std::vector<Row> whole_round();

  /// When the next round is due in which a source is; within a second, or a period.
  base::Seconds next() const { return next_; }

  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t left_out() const { return left_out_; }  ///< rounds that came too late to be made
  base::Seconds longest() const { return longest_; }    ///< round
  base::Seconds cpu_elsewhere() const;                  ///< of the threads of sources
  std::vector<Description> descriptions() const;

 private:
  struct Tracked {
    std::unique_ptr<Source> source;
    std::optional<base::Seconds> read = {};  ///< when last
    base::Seconds at{0};                     ///< of its last row
    std::optional<double> value = {};        ///< the last one, in a row
    double asleep = 0;                       ///< joules that came while the machine slept
    bool woke = false;                       ///< no reading since the machine slept
    int failures = 0;                        ///< in a row
  };

  bool due(const Tracked& tracked, base::Seconds now) const;
  Reading read(Tracked& tracked, base::Seconds now);
  void tell_sleep(std::vector<Row>& rows);
  void tell_lateness(std::vector<Row>& rows);
  void sweep(std::vector<Row>& rows, const std::function<bool(const Tracked&)>& wanted);

  std::vector<Tracked> sources_;
  Clock clock_;
  base::Seconds period_;
  base::Seconds asleep_;
  base::Seconds next_;
  base::Seconds longest_{0};
  std::uint64_t rounds_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace parajoule::meter
