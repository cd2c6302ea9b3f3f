#pragma once

// Where the time of a rank goes.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/quantity.h"

namespace parajoule::train {

enum class Phase : std::uint8_t {
  data_wait,
  forward,
  backward,
  exposed_communication,
  update,
  evaluation,
  checkpoint,
};

constexpr int phase_count = 7;

/// Seconds of the machine's monotonic clock (CLOCK_MONOTONIC), the one of the record.
base::Seconds monotonic_now();

/// Time by phase of one rank, used from one thread. At each moment at most one phase is under way:
/// entering a second one is a bug, so no time is counted twice.
class Phases {
 public:
  struct Interval {
    Phase phase;
    base::Seconds begin;  ///< of the monotonic clock
    base::Seconds end;
  };

  /// Ends its phase when it goes out of scope, or earlier by `end`.
  class [[nodiscard]] Span {
   public:
    explicit Span(Phases& phases) : phases_(&phases) {}
    Span(Span&& other) noexcept : phases_(other.phases_) { other.phases_ = nullptr; }
    Span& operator=(Span&&) = delete;
    ~Span() { end(); }
    void end() {
      if (phases_) phases_->leave();
      phases_ = nullptr;
    }

   private:
    Phases* phases_;
  };

  Span enter(Phase phase);

  /// Of all intervals that have ended since the start of the run.
  base::Seconds total(Phase phase) const { return totals_[std::size_t(phase)]; }

  /// The intervals that have ended since the last call, in order.
  std::vector<Interval> take();

  /// Whether no phase is under way.
  bool idle() const { return !open_; }

 private:
  struct Open {
    Phase phase;
    base::Seconds begin;
  };

  void leave();

  std::optional<Open> open_;
  std::array<base::Seconds, phase_count> totals_{};
  std::vector<Interval> ended_;
};

}  // namespace parajoule::train
