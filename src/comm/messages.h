#pragma once

// Messages from one rank to another: matching sends with receives.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "comm/moving.h"
#include "comm/note.h"
#include "comm/seat.h"

namespace parajoule::comm {

/// The sends and receives of one rank. A message is a note; longer values lie in the sender's
/// segment, where the receiver copies them from (of other memory a copy is made there first), or
/// follow by wire. Messages of one rank with one key arrive in the order in which they were sent.
class Messages {
 public:
  struct Key {
    std::uint64_t context = 0;
    std::uint64_t sequence = 0;  ///< 0 for the user's
    std::int32_t tag = 0;
    bool operator==(const Key&) const = default;
  };

  explicit Messages(Seat& seat) : seat_(seat) {}

  /// Ranks are those of the world.
  std::unique_ptr<Moving> send(Key key, int to, std::span<const std::byte> values);
  /// `from` is one rank, or several of which any will do.
  std::unique_ptr<Moving> receive(Key key, std::vector<int> from, std::span<std::byte> values);
  /// The first message that has arrived and not been received.
  const Note* arrived(Key key, std::span<const int> from) const;

  /// A note of kind message or taken.
  void take(const Note& note);

 private:
  class Send;
  class Receive;

  Seat& seat_;
  std::uint64_t sent_ = 0;
  std::map<std::uint64_t, Send*> untaken_;
  std::list<Receive*> posted_;  ///< in the order of their start
  std::deque<Note> unmatched_;  ///< in the order of arrival
};

}  // namespace parajoule::comm
