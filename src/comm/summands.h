#pragma once

// What the algorithms of sums are written on.

#include <bit>
#include <cstddef>
#include <vector>

#include "base/vector.h"
#include "comm/communicator.h"

namespace parajoule::comm {

/// The ranks that run an algorithm among themselves, by their numbers in the communicator, and
/// which of them this one is.
struct Circle {
  std::vector<int> ranks;
  int own = 0;  ///< index into `ranks`
  int size() const { return int(ranks.size()); }
  int rank(int index) const { return ranks[std::size_t(index)]; }
  /// The index `steps` places on, around the circle.
  int after(int steps) const { return ((own + steps) % size() + size()) % size(); }
};

/// Part `index` of `count` elements in `parts` parts that differ by at most one element.
base::Range part_of(std::size_t count, int parts, int index);

/// Room for what arrives, used again by later sums.
class Spares {
 public:
  std::vector<std::byte> take(std::size_t bytes);
  void give_back(std::vector<std::byte> room) { rooms_.push_back(std::move(room)); }

 private:
  std::vector<std::vector<std::byte>> rooms_;
};

/// The values of one sum on one rank, and the messages in which parts of them travel. All messages
/// of a sum have its tag; those between two ranks arrive in the order in which they were sent. An
/// empty part is not sent.
class Summands {
 public:
  Summands(Communicator& group, base::Vector values, int tag, Spares& spares)
      : group_(group), values_(values), tag_(tag), spares_(spares) {}
  Summands(const Summands&) = delete;
  ~Summands();

  Nodes nodes() const { return group_.nodes(); }
  std::size_t count() const { return values_.count(); }
  base::Range all() const { return {0, values_.count()}; }
  base::Vector operator[](base::Range part) const { return values_[part]; }

  Pending send(base::Range part, int to);
  /// In place: what comes replaces what is here.
  Pending receive(base::Range part, int from);
  /// Beside the values, for `add`; one at a time.
  Pending receive_addend(base::Range part, int from);
  /// Adds what `receive_addend` has brought for this part. float16 and bfloat16 are added in
  /// float32 and rounded.
  void add(base::Range part);

  /// Bytes of any meaning.
  Pending send_bytes(base::Vector bytes, int to);
  Pending receive_bytes(base::Vector bytes, int from);
  /// Bytes for encoded values; nowhere if the values are.
  base::Vector wire(std::size_t bytes);

 private:
  bool nowhere() const { return values_.place() == base::Place::nowhere; }
  base::Vector addend(base::Range part) const;

  Communicator& group_;
  base::Vector values_;
  int tag_;
  Spares& spares_;
  std::vector<std::byte> addend_;
  std::vector<std::vector<std::byte>> wires_;
};

}  // namespace parajoule::comm
