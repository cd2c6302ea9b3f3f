#include "meter/turns.h"

#include <chrono>
#include <utility>

#include "meter/poll.h"

namespace parajoule::meter {

using base::Seconds;

void read_counters_apart(std::vector<std::unique_ptr<Source>>& sources, Seconds every) {
  const auto counters = std::make_shared<std::vector<std::unique_ptr<Source>>>();
  const auto ask = [counters](const Stopped& stopped) {
    std::vector<Poll::Timed> readings;
    for (const auto& counter : *counters) {
      if (stopped()) break;
      const Poll::Moment before = std::chrono::steady_clock::now();
      Reading reading = counter->read(before.time_since_epoch());
      const Poll::Moment after = std::chrono::steady_clock::now();
      readings.push_back({std::move(reading), before + (after - before) / 2});
    }
    return readings;
  };
  const auto poll = std::make_shared<Poll>(Poll::AskInTurn(ask), every);
  for (auto& source : sources) {
    Description description = source->description();
    if (description.quantity != Quantity::energy) continue;
    counters->push_back(std::move(source));
    source = polled(std::move(description), poll, counters->size() - 1, Ends::asked);
  }
}

}  // namespace parajoule::meter
