#pragma once

// Faults on demand: how the tests make a rank of the real program throw, die, hang or dawdle.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::train {

/// Where a rank can be told to fail. `data` is the taking of a batch, `checkpoint` the moment
/// between the parts of the ranks and the file that makes them count.
enum class FaultPlace : std::uint8_t { data, forward, communication, evaluation, checkpoint };

/// The one fault that the environment asks of this rank, if any:
///
///   PARAJOULE_FAULT="rank=1 step=3 kind=throw_forward"
///
/// `kind` is what happens and where: throw | kill | hang | slow, an underscore, and a place; or
/// `nan`, which spoils the loss. It strikes once, at the first time from step `step` (from 0) on
/// that the place is reached. `slow` waits `seconds=5`. `rank=all` means every rank. A file named
/// by `mark=` is made when it strikes, so that a test knows the moment.
class InjectedFault {
 public:
  /// Reads PARAJOULE_FAULT. Throws Error{usage} if it cannot be understood.
  static InjectedFault of_environment(int rank);

  /// The same from text; nothing happens when `text` is empty or means another rank.
  InjectedFault(std::string_view text, int rank);

  /// Throws, dies, never returns or waits if that was asked for; otherwise costs a comparison.
  void reach(FaultPlace place, std::int64_t step) {
    if (place_ == place && step >= step_) strike();
  }

  /// Whether the loss of this step is to be replaced by not-a-number.
  bool spoils_loss(std::int64_t step) const { return act_ == Act::spoil && step == step_; }

 private:
  enum class Act : std::uint8_t { spoil, raise, kill, hang, slow };

  void read(std::string_view key, std::string_view value);
  void read_kind(std::string_view kind);
  void strike();

  std::optional<Act> act_;
  std::optional<FaultPlace> place_;
  std::int64_t step_ = 0;
  base::Seconds seconds_{5};
  std::string mark_;
};

}  // namespace parajoule::train
