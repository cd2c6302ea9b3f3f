#pragma once

// Counters that the kernel keeps for a whole processor, reached by perf_event_open.

#include <cstdint>
#include <functional>
#include <memory>
#include <variant>

#include "meter/kernel_file.h"

namespace parajoule::meter {

/// What to count, in the words of `<sys>/bus/event_source/devices`.
struct PerfEvent {
  std::uint32_t type;    ///< of the unit that counts, its file `type`
  std::uint64_t config;  ///< of the event: 2 of `event=0x02`
  int processor;         ///< logical; it must be switched on
  bool operator==(const PerfEvent&) const = default;
};

class PerfCounter {
 public:
  virtual ~PerfCounter() = default;

  /// Since it was opened; never falls and passes no range.
  virtual std::variant<std::uint64_t, Failure> count() = 0;
};

using OpenedPerfCounter = std::variant<std::unique_ptr<PerfCounter>, Failure>;
using PerfOpener = std::function<OpenedPerfCounter(const PerfEvent&)>;

/// That of this kernel. Counts all that the processor does, whoever runs on it, so it wants
/// CAP_PERFMON or `kernel.perf_event_paranoid` of 0 or less.
OpenedPerfCounter open_perf_counter(const PerfEvent& event);

}  // namespace parajoule::meter
