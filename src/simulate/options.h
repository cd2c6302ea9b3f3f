#pragma once

// What a virtual world consists of. Numbers that are left out cost nothing: an ideal machine.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::simulate {

/// A way between two ranks, as fast in both directions at once unless it is half duplex. A message
/// of b bytes alone on its way takes latency + b / bytes_per_second.
struct Link {
  base::Seconds latency{0};
  std::optional<double> bytes_per_second = {};  ///< none: bytes take no time
  /// So many ranks of a node, in the order of their numbers, go through one port; all that go
  /// through a port at the same time have equal parts of it.
  int shared_by = 1;
  /// What comes in through a port and what goes out share its bandwidth: MPI over TCP, where the
  /// answers that let values go wait behind the values of the other direction.
  bool half_duplex = false;
  /// Of a half duplex link: messages of at most so many bytes go both ways at once all the same,
  /// for they leave without being asked for (MPI calls them eager).
  std::size_t eager_bytes = 0;
};

/// What a rank computes on.
struct Device {
  std::optional<double> memory_bytes_per_second = {};  ///< none: vector operations take no time
  base::Watts idle{0};
  base::Watts compute{0};      ///< while it computes
  base::Watts communicate{0};  ///< while values are on their way from or to it
};

/// How a sum over many ranks is made; names and algorithms are those of comm/sums.h.
enum class Sum : std::uint8_t {
  automatic,  ///< the quickest of the others by its formula, the first of equals
  ring,
  halving_doubling,
  binary_blocks,
  tree,
  hierarchical
};

std::string_view name_of(Sum sum);
/// Throws Error{usage} that names the known ones.
Sum sum_named(std::string_view name);

/// A stretch of one rank's time, for a picture of the run. `what` lives for ever.
struct Span {
  enum class Lane : std::uint8_t { device, link };
  int rank;
  Lane lane;
  std::string_view what;
  base::Seconds begin;
  base::Seconds end;
};

struct Options {
  std::optional<int> ranks_per_node = {};  ///< none: all on one node
  Link node = {};                          ///< between ranks of one node
  Link network = {};                       ///< between nodes
  Device device = {};
  Sum sum = Sum::automatic;
  /// Runs the messages of sums one by one, in place of their formula. Not of `automatic`.
  bool expand = false;
  /// Whether vectors have elements (exact problems) or only lengths (rehearsals: no memory at all).
  enum class Numbers : std::uint8_t { real, none };
  Numbers numbers = Numbers::real;
  std::function<void(const Span&)> on_span = {};  ///< called for every stretch, if it is set
};

/// Throws Error{input} that names what cannot be meant.
void check(const Options& options);

}  // namespace parajoule::simulate
