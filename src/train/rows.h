#pragma once

// The rows of the record on their way from every rank to the one that writes it.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/quantity.h"
#include "comm/communicator.h"
#include "store/rows.h"
#include "train/reporter.h"

namespace parajoule::train {

/// What a node draws, for the live line.
struct Drawing {
  int node = 0;
  LiveEnergy energy = {};
  bool operator==(const Drawing&) const = default;
};

/// What one rank has to tell the record, and the one who shows how the run goes.
struct Rows {
  std::vector<store::Node> nodes;
  std::vector<store::Source> sources;
  std::vector<store::Reading> readings;
  std::vector<store::Phase> phases;
  std::vector<store::Step> steps;
  std::vector<store::Note> notes;
  std::vector<store::Setting> settings;
  std::vector<Drawing> drawings;

  bool empty() const;
  bool operator==(const Rows&) const = default;
};

/// Bytes that travel between ranks of one run; `decoded` of them gives equal rows.
std::vector<std::uint8_t> encoded(const Rows& rows);
Rows decoded(const std::vector<std::uint8_t>& bytes);

/// Sends rows to rank 0 of the group three times a second, as far as both ranks call `move`; there
/// they are handed on as they come. What a run that is killed loses of a rank's rows is the third
/// of a second and the time in which one of the two did not call.
class RowStream {
 public:
  using Sink = std::function<void(Rows)>;
  /// `sink` is called on rank 0 alone.
  RowStream(comm::Communicator& group, Sink sink)
      : group_(group), sink_(std::move(sink)), marks_(std::size_t(group.size())) {}

  /// Rows of this rank that wait to be sent. Add to them, then call `move`.
  Rows& waiting() { return waiting_; }

  /// Moves on what can be moved without waiting; a rank other than 0 sends at most once in
  /// `between`.
  void move(base::Seconds now);

  /// All ranks: returns when rank 0 has handed on every row that was waiting anywhere.
  void drain();

 private:
  static constexpr base::Seconds between{0.3};
  static constexpr int tag = 71;
  void send();
  void take(comm::Communicator::Arrived message);

  comm::Communicator& group_;
  Sink sink_;
  Rows waiting_;
  std::vector<std::uint8_t> outgoing_;
  comm::Pending sending_;
  base::Seconds sent_{0};
  /// Of each rank: drains whose last message has come and that rank 0 has not come to yet. A rank
  /// may be several ahead of it.
  std::vector<int> marks_;
};

}  // namespace parajoule::train
