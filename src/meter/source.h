#pragma once

// Where numbers come from: one source is one number that can be read, with all that a reader of
// the record must know of it. Energy is two reads and a subtraction.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/quantity.h"

namespace parajoule::meter {

// The words stand in the record, so they are promises. None of them is zero: a member that was
// forgotten cannot pass for the first word.
enum class Quantity { energy = 1, power, temperature, clock, utilisation, memory };
enum class Label { measured = 1, modelled, simulated };

std::string_view name_of(Quantity quantity);
std::string_view name_of(Label label);

/// A source in the words of the record: one member a column of its table `source`.
struct Description {
  std::string device;  ///< unique on its node: `package-0`, `memory`, `GPU 3`
  /// `cpu`, `memory`, `gpu`, `platform`; of wholes that are never added to these: `node`, `outlet`,
  /// `module`; `sensor` where it is not known what else holds it: shown and never added either.
  std::string device_kind;
  Quantity quantity;
  std::string unit;  ///< `joules`, `watts`, `fraction`
  Label label;
  std::string covers;  ///< word for word what the number sees, and by what interface
  std::optional<std::string> part_of = {};          ///< the device whose number holds this one
  std::optional<double> resolution = {};            ///< in `unit`
  std::optional<base::Seconds> update_period = {};  ///< how often the device renews the number
  std::optional<base::Seconds> window = {};         ///< over which the device averages
  std::optional<double> bias_relative = {};  ///< 95 % bound, common to all sensors of the type
  std::optional<std::string> formula = {};   ///< how the number is formed, with its inputs
  bool operator==(const Description&) const = default;
};

/// Whether the number is of energy or power, not of temperature and the like.
bool energetic(const Description& description);

/// Ends `covers` of a source that was built against its documentation and has met no device yet.
inline constexpr std::string_view untried = "never seen on real hardware";

/// Why there is no value. Of the causes only `reset` and `missed_wrap` lose energy of a counter;
/// after the others its next reading makes up for the gap.
struct Gap {
  enum class Cause {
    failed = 1,   ///< the device did not answer
    implausible,  ///< the value cannot be; dropped
    reset,        ///< a counter began anew: the energy since the last reading is not known
    missed_wrap,  ///< a counter may have passed its range unseen: its energy is a lower bound
    suspended,    ///< the machine slept: neither its time nor its energy belongs to the run
    late,         ///< the sampler came too late for this reading
  };
  Cause cause;
  std::string detail;
  bool operator==(const Gap&) const = default;
};

/// As in the record's column `gap`, `reset: fell from 17 J to 3 J`, and back. Text that begins with
/// no known cause is a failed reading.
std::string written(const Gap& gap);
Gap parse_gap(std::string_view text);

/// A value in the unit of its source, or the cause of its absence. Energy counts up from an
/// arbitrary start and never falls: wraps and resets are dealt with below.
using Reading = std::variant<double, Gap>;

class Source {
 public:
  virtual ~Source() = default;
  virtual const Description& description() const = 0;

  /// Reads the device. `now` is the caller's monotonic clock, from any origin: a counter must know
  /// how long it was not read. Does not throw for what the device does: that is a gap.
  virtual Reading read(base::Seconds now) = 0;

  /// Whether there is something to read. A source that is asked from a thread of its own, which it
  /// starts at the first call, has nothing between two answers; all others always have.
  virtual bool ready() { return true; }

  /// At both ends of a run: asks at once for what is else asked from a thread of its own, if that
  /// takes no more than milliseconds and was not asked since that moment.
  virtual void refresh(std::chrono::steady_clock::time_point) {}

  /// How long before the last `read` its number was taken.
  virtual base::Seconds age() const { return base::Seconds(0); }

  /// Processor time of threads of its own.
  virtual base::Seconds cpu_elsewhere() const { return base::Seconds(0); }
};

}  // namespace parajoule::meter
