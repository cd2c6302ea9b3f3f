#pragma once

// The ranks that share memory with this one, and all that goes between them.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "comm/desk.h"
#include "comm/note.h"
#include "comm/segment.h"

namespace parajoule::comm {

/// This rank's seat among the ranks of its node. Members are counted from 0 in the order of their
/// ranks.
class Node {
 public:
  /// Bytes at the beginning of each segment that desk and rings take, for a node of `members`.
  static std::size_t head_bytes(int members);
  /// Lays out desk and rings in one's own segment, before others look at it.
  static void furnish(Segment& segment, int members);

  /// Furnished segments of the ranks `ranks` (in the world), this one's being number `own`.
  Node(std::vector<int> ranks, std::vector<std::shared_ptr<Segment>> segments, int own);

  int size() const { return int(ranks_.size()); }
  int own() const { return own_; }
  int rank_of(int member) const { return ranks_[std::size_t(member)]; }
  std::optional<int> member_of(int rank) const;
  const std::shared_ptr<Segment>& segment() const { return segments_[std::size_t(own_)]; }
  std::byte* at(int member, std::uint64_t place) const;

  /// Never waits: what does not fit stays with this rank until `flush`.
  void post(int member, const Note& note);
  /// False if something is still left.
  bool flush();
  /// Appends what has arrived, in the order of each sender.
  void collect(std::vector<Note>& into);

  std::uint32_t bell() const { return desk(own_).bell.rung(); }
  /// Sleeps until the bell has been rung since `since`, at most so long; a little while awake
  /// first, if every rank of the node has a core of its own.
  void sleep(std::uint32_t since, base::Seconds at_most);

  /// Tells all that this rank is out. The first cause stands.
  void fail(const Failure& failure) noexcept;
  void leave() noexcept;
  /// What a member has told, if one has.
  std::optional<Failure> failure() const;
  bool left(int member) const;
  /// A member whose process is gone without a word.
  std::optional<int> dead() const;

 private:
  Desk& desk(int member) const;
  Ring& ring(int to, int from) const;
  void alarm() noexcept;

  std::vector<int> ranks_;
  std::vector<std::shared_ptr<Segment>> segments_;
  int own_;
  bool awake_first_;
  std::vector<std::deque<Note>> unsent_;  ///< for each member
};

}  // namespace parajoule::comm
