#pragma once

// The rows of the record on their way from every rank to the one that writes it.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/quantity.h"
#include "comm/communicator.h"
#include "store/rows.h"

namespace parajoule::train {

/// What one rank has to tell the record.
struct Rows {
  std::vector<store::Node> nodes;
  std::vector<store::Source> sources;
  std::vector<store::Reading> readings;
  std::vector<store::Phase> phases;
  std::vector<store::Step> steps;
  std::vector<store::Note> notes;

  bool empty() const;
  bool operator==(const Rows&) const = default;
};

/// Bytes that travel between ranks of one run; `decoded` of them gives equal rows.
std::vector<std::uint8_t> encoded(const Rows& rows);
Rows decoded(const std::vector<std::uint8_t>& bytes);

/// Sends rows about once a second to rank 0 of the group, which hands them on as they come, so that
/// a run that is killed has all rows but its last second's.
class RowStream {
 public:
  using Sink = std::function<void(Rows)>;
  /// `sink` is called on rank 0 alone.
  RowStream(comm::Communicator& group, Sink sink) : group_(group), sink_(std::move(sink)) {}

  /// Rows of this rank that wait to be sent. Add to them, then call `move`.
  Rows& waiting() { return waiting_; }

  /// Moves on what can be moved without waiting; a rank other than 0 sends at most once a second.
  void move(base::Seconds now);

  /// All ranks: returns when rank 0 has handed on every row that was waiting anywhere.
  void drain();

 private:
  static constexpr int tag = 71;
  void send();
  void take(comm::Communicator::Arrived message);

  comm::Communicator& group_;
  Sink sink_;
  Rows waiting_;
  std::vector<std::uint8_t> outgoing_;
  comm::Pending sending_;
  base::Seconds sent_{0};
  int drained_ = 0;  ///< ranks whose last message of a drain has come
};

}  // namespace parajoule::train
