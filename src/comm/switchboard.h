#pragma once

// The one place of a rank where notes come in, transfers go on, and the rank waits.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/messages.h"
#include "comm/moving.h"
#include "comm/seat.h"

namespace parajoule::comm {

/// Notes of one collective that have come; they may come before this rank does.
struct Rendezvous {
  std::vector<Note> arrived;
  std::vector<int> finished;  ///< ranks of the world
  std::vector<int> waiting;
};

class Switchboard {
 public:
  explicit Switchboard(Seat seat);

  Seat& seat() { return seat_; }
  Messages& messages() { return messages_; }
  /// Memory of this rank alone, for what comes from other nodes.
  Memory& scratch();

  /// The notes of collective `sequence` of group `context`.
  Rendezvous& rendezvous(std::uint64_t context, std::uint64_t sequence);
  void forget(std::uint64_t context, std::uint64_t sequence);

  /// How many groups of this name there have been before on this rank.
  std::uint64_t count_group(std::uint64_t name) { return groups_[name]++; }

  /// Takes over what has been started and goes on with it whenever this rank calls.
  Pending begin(std::unique_ptr<Moving> moving);

  /// Takes what has come and goes on with everything under way, without waiting. Throws Error{peer}
  /// once a rank is known to be out.
  void progress();

  /// Returns when `moving` has finished, or `enough` says so. Sleeps; reports and gives up as the
  /// options say.
  void wait(
      Moving& moving, const std::function<bool()>& enough = [] { return false; });

  /// Tells all ranks, here and on other nodes, that `failure.rank` is out. If another is known to
  /// be out already, that stands.
  void fail(const Failure& failure) noexcept;

  /// This rank has come to its end; sends what is left to send.
  void leave();

 private:
  class Underway;
  class Patience;

  void take(const Note& note);
  std::optional<Failure> failure() const;
  void throw_if_out() const;
  void look_after(Moving& moving);
  /// A rank that has left, without which there is no going on.
  std::optional<int> missed(const Absence& absence) const;
  void give_up(const Absence& absence);

  Seat seat_;
  Messages messages_;
  std::optional<Memory> scratch_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Rendezvous> rendezvous_;
  std::map<std::uint64_t, std::uint64_t> groups_;
  std::vector<Moving*> under_way_;  ///< in the order of their start
  std::vector<Note> notes_;         ///< room for those just collected
};

}  // namespace parajoule::comm
