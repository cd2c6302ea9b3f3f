#include "optimize/layers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::optimize {

Layers::Layers(std::string_view optimizer, const base::Settings& settings,
               const schedule::Layout& layout)
    : optimizer_(optimizer) {
  const bool all = settings.word("adapt") == "all";
  for (const schedule::Parameter& parameter : layout.parameters) {
    const bool vector =
        parameter.kind == schedule::Kind::bias || parameter.kind == schedule::Kind::normalisation;
    layers_.push_back({parameter.name, parameter.range, all || !vector});
  }
}

std::vector<Layers::Layer> Layers::within(base::Range range) const {
  base::ensure(
      range.begin <= range.end && (layers_.empty() || range.end <= layers_.back().range.end),
      "a step's range lies in the layout");
  std::vector<Layer> found;
  if (range.size() == 0) return found;
  auto layer = std::ranges::upper_bound(layers_, range.begin, {},
                                        [](const Layer& each) { return each.range.end; });
  for (; layer != layers_.end() && layer->range.begin < range.end; ++layer) {
    if (layer->range.begin < range.begin || layer->range.end > range.end) {
      throw base::Error(
          base::Fault::usage,
          fmt::format("optimizer = {}: it needs the norm of the whole of '{}', of which the "
                      "strategy updates a part by itself; take another optimizer, such as sgd or "
                      "adam, or another strategy",
                      optimizer_, layer->name));
    }
    if (layer->range.size() > 0) found.push_back(*layer);
  }
  return found;
}

std::size_t Layers::longest() const {
  std::size_t longest = 0;
  for (const Layer& layer : layers_) longest = std::max(longest, layer.range.size());
  return longest;
}

}  // namespace parajoule::optimize
