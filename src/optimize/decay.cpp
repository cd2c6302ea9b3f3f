#include "optimize/decay.h"

#include <algorithm>

namespace parajoule::optimize {

Decay::Decay(const base::Settings& settings, const schedule::Layout& layout) {
  const double strength = settings.number("weight_decay");
  const bool all = settings.word("decay") == "all";
  for (const schedule::Parameter& parameter : layout.parameters) {
    const bool spared =
        parameter.kind == schedule::Kind::bias || parameter.kind == schedule::Kind::normalisation;
    const double pulled = spared && !all ? 0 : strength;
    if (!pieces_.empty() && pieces_.back().strength == pulled)
      pieces_.back().range.end = parameter.range.end;
    else
      pieces_.push_back({parameter.range, pulled});
  }
}

std::vector<Decay::Piece> Decay::within(base::Range range) const {
  std::vector<Piece> cut;
  auto piece = std::ranges::upper_bound(pieces_, range.begin, {},
                                        [](const Piece& p) { return p.range.end; });
  for (; piece != pieces_.end() && piece->range.begin < range.end; ++piece)
    cut.push_back(
        {{std::max(piece->range.begin, range.begin), std::min(piece->range.end, range.end)},
         piece->strength});
  return cut;
}

}  // namespace parajoule::optimize
