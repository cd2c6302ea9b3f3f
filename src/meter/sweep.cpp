#include "meter/sweep.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>
#include <time.h>

namespace parajoule::meter {

using base::Seconds;

namespace {

constexpr Seconds shortest_sleep{0.1};  // two clocks read one after the other differ by less
constexpr int patience = 10;            // failures in a row before a source is asked less often
constexpr Seconds between_failures{1};
constexpr Seconds longest_rest{1};  // sleep of the machine is seen, and a stop of the thread

Seconds seconds_of(clockid_t clock) {
  timespec time;
  ::clock_gettime(clock, &time);
  return Seconds(double(time.tv_sec) + 1e-9 * double(time.tv_nsec));
}

/// The next round in which a source is due: the others would only wake a processor.
Seconds following(Seconds round, Seconds period, const std::function<bool(Seconds)>& any_due) {
  const Seconds latest = round + longest_rest;
  do round += period;
  while (round < latest - period / 2 && !any_due(round));
  return round;
}

}  // namespace

Clock node_clock(std::chrono::steady_clock::time_point start) {
  return {.now = [start] { return Seconds(std::chrono::steady_clock::now() - start); },
          .asleep = [] { return seconds_of(CLOCK_BOOTTIME) - seconds_of(CLOCK_MONOTONIC); }};
}

Sweep::Sweep(std::vector<std::unique_ptr<Source>> sources, Clock clock, Seconds period)
    : clock_(std::move(clock)), period_(period), asleep_(clock_.asleep()), next_(clock_.now()) {
  for (auto& source : sources) sources_.push_back({.source = std::move(source)});
}

std::vector<Description> Sweep::descriptions() const {
  std::vector<Description> all;
  for (const Tracked& tracked : sources_) all.push_back(tracked.source->description());
  return all;
}

Seconds Sweep::cpu_elsewhere() const {
  Seconds sum(0);
  for (const Tracked& tracked : sources_) sum += tracked.source->cpu_elsewhere();
  return sum;
}

std::vector<Row> Sweep::round() {
  std::vector<Row> rows;
  tell_lateness(rows);
  const Seconds now = clock_.now();
  sweep(rows, [&](const Tracked& tracked) { return due(tracked, now); });
  next_ = following(next_, period_, [this](Seconds at) {
    return std::ranges::any_of(sources_, [&](const Tracked& one) { return due(one, at); });
  });
  return rows;
}

std::vector<Row> Sweep::whole_round() {
  std::vector<Row> rows;
  const auto since = std::chrono::steady_clock::now();
  for (Tracked& tracked : sources_) tracked.source->refresh(since);
  sweep(rows, [](const Tracked&) { return true; });
  next_ = following(clock_.now(), period_, [this](Seconds at) {
    return std::ranges::any_of(sources_, [&](const Tracked& one) { return due(one, at); });
  });
  return rows;
}

void Sweep::sweep(std::vector<Row>& rows, const std::function<bool(const Tracked&)>& wanted) {
  const Seconds begin = clock_.now();
  tell_sleep(rows);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Tracked& tracked = sources_[i];
    if (!wanted(tracked) || !tracked.source->ready()) continue;
    const Seconds before = clock_.now();
    Reading reading = read(tracked, before);
    const Seconds age = tracked.source->age();
    const Seconds taken = age > Seconds(0) ? before - age : (before + clock_.now()) / 2;
    tracked.at = std::max(tracked.at, taken);  // a gap may have been told of the time between
    rows.push_back({i, tracked.at, std::move(reading)});
  }
  longest_ = std::max(longest_, clock_.now() - begin);
  ++rounds_;
}

/// Half a period early is soon enough: a source renewed every 0.1 s and read every 0.1 s would
/// else be left out each time the thread wakes a little early.
bool Sweep::due(const Tracked& tracked, Seconds now) const {
  if (!tracked.read) return true;
  Seconds wait = tracked.source->description().update_period.value_or(Seconds(0));
  if (tracked.failures > patience) wait = std::max(wait, between_failures);
  return now - *tracked.read >= wait - period_ / 2;
}

Reading Sweep::read(Tracked& tracked, Seconds now) {
  tracked.read = now;
  Reading reading = Gap{};
  try {
    reading = tracked.source->read(now);
  } catch (const std::exception& error) {
    reading = Gap{Gap::Cause::failed, error.what()};
  }
  double* value = std::get_if<double>(&reading);
  if (value && !std::isfinite(*value)) {
    reading = Gap{Gap::Cause::implausible, "not a number"};
    value = nullptr;
  }
  tracked.failures = value ? 0 : tracked.failures + 1;
  if (!value) return reading;
  if (tracked.source->description().quantity == Quantity::energy) {
    if (tracked.woke && tracked.value) tracked.asleep += *value - tracked.asleep - *tracked.value;
    *value -= tracked.asleep;
  }
  tracked.woke = false;
  tracked.value = *value;
  return reading;
}

/// What a counter did while the machine slept is not the run's, and the monotonic clock stood.
void Sweep::tell_sleep(std::vector<Row>& rows) {
  const Seconds asleep = clock_.asleep();
  const Seconds slept = asleep - asleep_;
  asleep_ = asleep;
  if (slept < shortest_sleep) return;
  const Gap gap{Gap::Cause::suspended, fmt::format("the machine slept {:.1f} s", slept.count())};
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    sources_[i].woke = true;
    sources_[i].at = clock_.now();
    rows.push_back({i, sources_[i].at, gap});
  }
}

void Sweep::tell_lateness(std::vector<Row>& rows) {
  const double missed = std::floor((clock_.now() - next_) / period_);
  if (missed < 1) return;
  left_out_ += std::uint64_t(missed);
  const Gap gap{Gap::Cause::late, fmt::format("{} rounds left out", missed)};
  for (std::size_t i = 0; i < sources_.size(); ++i)
    if (due(sources_[i], next_)) rows.push_back({i, std::max(sources_[i].at, next_), gap});
  next_ += missed * period_;
}

}  // namespace parajoule::meter
