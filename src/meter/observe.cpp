#include "meter/observe.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace parajoule::meter {

using base::Seconds;

namespace {

constexpr Seconds shortest_step{0.0002};
constexpr double reads_a_period = 8;
constexpr std::size_t least_renewals = 3;

/// How far apart the reads of a source lie that does not say how often it is renewed.
constexpr Seconds usual_step{0.005};

/// The value below which `share` of the values lie; they must not be empty.
Seconds quantile(std::vector<Seconds> values, double share) {
  const auto place = values.begin() + std::ptrdiff_t(share * double(values.size() - 1) + 0.5);
  std::ranges::nth_element(values, place);
  return *place;
}

/// One source while it is watched.
struct Watched {
  Source& source;
  Seconds step;
  Seconds due;
  Observed found = {};
  std::optional<double> value = {};     ///< the last one
  std::optional<Seconds> renewed = {};  ///< when it was first seen
  std::vector<Seconds> costs = {};
  std::vector<Seconds> between = {};  ///< renewals
  std::size_t changes = 0;
};

Seconds step_of(const Description& description) {
  if (!description.update_period) return usual_step;
  return std::max(shortest_step, *description.update_period / reads_a_period);
}

void note(Watched& watched, const Reading& reading, Seconds at) {
  if (const auto* gap = std::get_if<Gap>(&reading)) {
    if (watched.found.failed++ == 0) watched.found.gap = written(*gap);
    return;
  }
  const double value = std::get<double>(reading);
  if (watched.value && value != *watched.value) {
    // The first change does not say since when the number before it had stood.
    if (watched.renewed) watched.between.push_back(at - *watched.renewed);
    watched.renewed = at;
    ++watched.changes;
  }
  watched.value = value;
}

void read(Watched& watched, const Pace& pace) {
  const Seconds before = pace.now();
  const Reading reading = watched.source.read(before);
  const Seconds after = pace.now();
  watched.costs.push_back(after - before);
  ++watched.found.reads;
  note(watched, reading, (before + after) / 2);
  watched.due = before + watched.step;
}

Observed summed_up(Watched& watched) {
  Observed& found = watched.found;
  found.cost = quantile(watched.costs, 0.5);
  found.moved = watched.changes > 0;
  if (watched.between.size() < least_renewals) return found;
  const bool counter = watched.source.description().quantity == Quantity::energy;
  found.update = quantile(watched.between, counter ? 0.5 : 0.25);
  found.quicker = watched.changes * 4 > (found.reads - 1) * 3;
  return found;
}

}  // namespace

Pace node_pace() {
  return {.now = [] { return Seconds(std::chrono::steady_clock::now().time_since_epoch()); },
          .pause = [](Seconds time) { std::this_thread::sleep_for(time); }};
}

std::vector<Observed> observe(std::span<const std::unique_ptr<Source>> sources, Seconds length,
                              const Pace& pace) {
  const Seconds begin = pace.now();
  std::vector<Watched> all;
  for (const auto& source : sources)
    all.push_back({.source = *source, .step = step_of(source->description()), .due = begin});
  for (bool again = true; again && !all.empty();) {
    for (Watched& watched : all)
      if (pace.now() >= watched.due) read(watched, pace);
    const Seconds next = std::ranges::min_element(all, {}, &Watched::due)->due;
    again = pace.now() < begin + length;
    if (again && next > pace.now()) pace.pause(std::min(next, begin + length) - pace.now());
  }
  std::vector<Observed> found;
  for (Watched& watched : all) {
    if (watched.found.reads < 2) read(watched, pace);
    found.push_back(summed_up(watched));
  }
  return found;
}

}  // namespace parajoule::meter
