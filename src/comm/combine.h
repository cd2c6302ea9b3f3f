#pragma once

// The arithmetic of collectives: several ranks' values become one, which goes to several places.

#include <cstddef>
#include <vector>

#include "base/vector.h"
#include "comm/communicator.h"

namespace parajoule::comm {

/// One combination of equally long values; `element` and `count` hold for all of them.
struct Combination {
  struct Source {
    const std::byte* values;
    double factor = 1;  ///< of a sum
  };
  Collective::Kind kind = Collective::Kind::sum;  ///< sum, minimum or maximum
  base::Element element = base::Element::float32;
  std::size_t count = 0;
  std::vector<Source> from = {};    ///< combined in this order
  std::vector<std::byte*> to = {};  ///< may be some of `from`; all get the same bits
};

/// How values are combined in a collective of this kind.
constexpr Collective::Kind arithmetic(Collective::Kind kind) {
  using Kind = Collective::Kind;
  return kind == Kind::minimum || kind == Kind::maximum ? kind : Kind::sum;
}

/// In pieces that stay in the nearest cache, so that each value is read once from memory and
/// written once. Nothing to combine, or nowhere to put it, is nothing to do.
void combine(const Combination& call);

}  // namespace parajoule::comm
