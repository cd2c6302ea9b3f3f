#pragma once

// What meters this machine has, as plain values: the content of `parajoule sensors`.

#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "meter/observe.h"
#include "meter/open.h"

namespace parajoule::cli {

/// A source that could be opened, and how it did while it was watched.
struct SensedSource {
  enum class State {
    works = 1,
    fails,  ///< no read gave a value
    dead,   ///< a counter stood still although what it meters is on
  };
  meter::Description description;
  meter::Observed observed;
  State state;
  std::string reason = {};  ///< unless it works
};

struct SensedFamily {
  std::string name;
  std::string reads;
  bool met_devices;  ///< has read real ones, here or elsewhere
  std::vector<SensedSource> sources;
  std::vector<meter::Unavailable> unavailable;
};

struct Sensed {
  base::Seconds watched{0};
  std::vector<SensedFamily> families;  ///< the model last
  std::vector<std::string> unmetered;  ///< what draws power and nothing here sees
};

/// Opens what `options` name and reads it all for about `length`.
Sensed sensed(const meter::Options& options, base::Seconds length,
              const meter::Pace& pace = meter::node_pace());

/// What later runs may take from it: the periods of measured energies and powers that were slow
/// enough to be seen.
std::vector<meter::FoundPeriod> periods_of(const Sensed& sensed);

/// `works`, `fails`, `dead`.
std::string_view name_of(SensedSource::State state);

/// `unreadable`, `dead`, `absent`, `left out`; `spare` for what another source has.
std::string_view state_of(const meter::Unavailable& unavailable);

}  // namespace parajoule::cli
