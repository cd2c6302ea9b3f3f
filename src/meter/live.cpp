#include "meter/live.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {
constexpr Seconds recently{1};
}

LiveState::LiveState(std::span<const Description> descriptions) {
  for (const Description& description : descriptions)
    sources_.push_back({.quantity = description.quantity});
}

void LiveState::add(const Row& row) {
  Tracked& source = sources_.at(row.source);
  if (const auto* gap = std::get_if<Gap>(&row.reading)) {
    source.gap = *gap;
    source.woke |= gap->cause == Gap::Cause::suspended;
    return;
  }
  source.gap.reset();
  Point point{row.at, std::get<double>(row.reading), Joules{0}};
  if (!source.recent.empty()) {
    const Point& last = source.recent.back();
    const Seconds passed = source.woke ? Seconds(0) : row.at - last.at;
    point.energy = last.energy + (source.quantity == Quantity::energy
                                      ? Joules{point.value - last.value}
                                      : Watts{(point.value + last.value) / 2} * passed);
  }
  source.woke = false;
  source.recent.push_back(point);
  while (source.recent.size() > 2 && row.at - source.recent[1].at >= recently)
    source.recent.pop_front();
}

std::vector<Live> LiveState::now() const {
  std::vector<Live> all;
  for (const Tracked& source : sources_) {
    Live live{.gap = source.gap};
    const auto& recent = source.recent;
    if (!recent.empty()) live.value = recent.back().value;
    const bool counter = source.quantity == Quantity::energy;
    const bool energetic = counter || source.quantity == Quantity::power;
    // A counter that has not moved may be dead: that is no number, and not zero.
    const bool told = recent.size() > 1 && (!counter || recent.back().energy > Joules{0});
    if (energetic && told) {
      const Seconds passed = recent.back().at - recent.front().at;
      live.energy = recent.back().energy;
      if (passed > Seconds(0)) live.power = (live.energy.value() - recent.front().energy) / passed;
    }
    all.push_back(std::move(live));
  }
  return all;
}

}  // namespace parajoule::meter
