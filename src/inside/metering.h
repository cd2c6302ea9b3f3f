#pragma once

// Meters this node from within a program: samples all sources, and tells what regions of time took.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "meter/account.h"
#include "meter/sampler.h"

namespace parajoule::inside {

/// What a region took.
struct RegionEnergy {
  base::Seconds length{0};
  base::Seconds exact_cost{0};  ///< of reading at both ends, if it did
  meter::NodeAccount account;
};

/// CLOCK_MONOTONIC.
base::Seconds now();

/// All functions may be called from any thread; begin and end do not wait for meters.
class Metering {
 public:
  struct Options {
    double hertz = 10;
    /// How long readings before a region are kept: more than any sensor's window needs.
    base::Seconds before_a_region{5};
  };

  using Sources = std::vector<std::unique_ptr<meter::Source>>;

  /// Of `sources` those of energy and power are read. `open_exact` opens the same ones once more,
  /// to be read in the threads of those who begin and end exact regions; it is called by the first
  /// of these, and may be none. Throws Error{usage} for a pace that is not.
  Metering(Sources sources, std::function<Sources()> open_exact, const Options& options);

  /// No source is read once it has returned. A second call does nothing.
  void stop();

  void begin(std::uint64_t id, base::Seconds at, bool exact);
  /// False if no such region is open.
  bool end(std::uint64_t id, base::Seconds at);

  /// Of a region that has ended; waits until readings have reached its end, or until `stop`. None
  /// of others. The oldest of more than `most_kept` are forgotten.
  std::optional<RegionEnergy> energy_of(std::uint64_t id);
  void forget(std::uint64_t id);

  static constexpr std::size_t most_kept = 10'000;

  /// How many readings are kept.
  std::size_t kept_rows() const;

 private:
  struct Region {
    base::Seconds begin;
    std::optional<base::Seconds> end = {};
    bool exact = false;
    std::vector<meter::Row> exact_rows = {};
    base::Seconds exact_cost{0};
    std::shared_ptr<const RegionEnergy> energy = {};  ///< once readings have reached its end
  };

  void take(std::span<const meter::Row> rows);
  void settle();
  bool reached(base::Seconds end) const;
  RegionEnergy accounted(const Region& region) const;
  void let_go(base::Seconds before);
  void read_exactly(Region& region);
  void find_counters();
  void forget_oldest();

  const base::Seconds before_a_region_;
  /// A counter that is read by whoever begins or ends a region.
  struct Exact {
    std::size_t source;  ///< the same as this one of the sampler's
    std::unique_ptr<meter::Source> counter;
  };

  std::mutex exact_mutex_;               ///< guards what follows
  std::function<Sources()> open_exact_;  ///< none once it was called
  std::vector<Exact> exact_;
  bool exact_over_ = false;

  mutable std::mutex rows_mutex_;  ///< taken before `regions_mutex_`, never by begin and end
  std::vector<meter::Description> descriptions_;
  std::vector<std::deque<meter::Row>> rows_;  ///< of each source

  std::mutex regions_mutex_;
  std::condition_variable settled_;
  std::map<std::uint64_t, Region> regions_;
  bool stopped_ = false;

  std::unique_ptr<meter::Sampler> sampler_;  ///< last: gone before what its thread fills
};

}  // namespace parajoule::inside
