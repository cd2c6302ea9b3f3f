#pragma once

// From the readings of a span of time to numbers: energy, power, how sure they are, and the ratios
// people compare runs by. Works on rows, live or out of a record, so that a number can be computed
// again later.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"
#include "meter/sweep.h"

namespace parajoule::meter {

/// Moments on the clock of the rows.
struct Span {
  base::Seconds begin;
  base::Seconds end;
  base::Seconds length() const { return end - begin; }
};

/// Half width of a 95 % interval, in two parts. `resolution` comes from counter steps, update
/// periods, noise and gaps, is independent from source to source and shrinks with repeats; `bias`
/// is the sensor's, common to all of its type, and does neither.
struct Uncertainty {
  base::Joules resolution;
  base::Joules bias;
  base::Joules whole() const;  ///< both together: the root of the sum of squares
};

/// What one source says about a span.
struct SourceAccount {
  Description description;
  /// None if there are no two readings to subtract; `remarks` says why. Never 0 for what is dead.
  std::optional<base::Joules> energy = {};
  std::optional<base::Watts> mean_power = {};
  std::optional<base::Watts> peak_power = {};  ///< highest over at least one update and window
  Uncertainty uncertainty = {};
  base::Seconds covered{0};               ///< of the span, time that `energy` speaks for
  bool counts = false;                    ///< is in a total; false if another number holds it
  std::vector<std::string> remarks = {};  ///< gaps, resets, standstill: for the reader
};

/// A sum of energies of one label. There is no way to add two labels.
template <Label label>
class Total {
 public:
  /// Adds one source. Biases of sensors of one type (`kind`) add up; of different types, and
  /// resolutions of all, they add as squares.
  void add(base::Joules energy, Uncertainty uncertainty, const std::string& type);
  Total& operator+=(const Total& other);  ///< other sources, of another node

  base::Joules energy() const { return energy_; }
  Uncertainty uncertainty() const;

 private:
  base::Joules energy_;
  double resolution_squared_ = 0;
  std::map<std::string, base::Joules> bias_;
};

extern template class Total<Label::measured>;
extern template class Total<Label::modelled>;
extern template class Total<Label::simulated>;

/// None where no source has a number: that is not zero joules.
struct Totals {
  std::optional<Total<Label::measured>> measured = {};
  std::optional<Total<Label::modelled>> modelled = {};
  std::optional<Total<Label::simulated>> simulated = {};
  Totals& operator+=(const Totals& other);  ///< of another node
};

/// A source with its rows, in the order of their moments.
struct Series {
  Description description;
  std::vector<Row> rows;
};

/// Sorts rows of many sources, as the sampler's sink or a record gives them. `Row::source` is the
/// place in `descriptions`.
std::vector<Series> by_source(std::span<const Description> descriptions, std::span<const Row> rows);

/// The account of one node. Readings a little before and after the span make its ends sharper:
/// give all there are.
struct NodeAccount {
  Span span;
  std::vector<SourceAccount> sources;  ///< in the order given
  Totals totals;
};
NodeAccount account(std::span<const Series> series, Span span);

/// The work done in a span.
struct Work {
  int devices = 1;           ///< ranks that train; on GPUs, GPUs
  base::Seconds wall{0};     ///< length of the span
  std::int64_t samples = 0;  ///< training samples processed, on all ranks
  std::int64_t passes = 0;   ///< forward and backward passes, on all ranks
};

/// Energy over work, of one label.
struct Intensity {
  double kilowatt_hours_per_device_hour;
  double watt_hours_per_1000_samples;  ///< not a number without samples
};

/// What runs are compared by. Training samples only, though the energy is of the whole span with
/// its evaluations.
struct Figures {
  double device_hours;  ///< devices times wall time
  double samples_per_device_hour;
  double passes_per_device_hour;
  std::optional<Intensity> measured = {};
  std::optional<Intensity> modelled = {};
};
Figures figures(const Totals& totals, const Work& work);

}  // namespace parajoule::meter
