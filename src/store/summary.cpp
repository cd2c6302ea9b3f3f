#include "store/summary.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace parajoule::store {
namespace {

std::int64_t whole_number(const std::optional<std::string>& text) {
  std::int64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return std::max<std::int64_t>(value, 0);
}

// The last evaluation of every set gives its scores.
std::vector<Score> last_scores(const std::vector<Epoch>& rows) {
  std::vector<Score> scores;
  for (const Epoch& row : rows) {
    const Score score{row.epoch, row.set, row.metric, row.numerator / row.denominator};
    const auto same = std::ranges::find_if(scores, [&](const Score& each) {
      return each.set == row.set && each.metric == row.metric;
    });
    if (same == scores.end())
      scores.push_back(score);
    else if (same->epoch <= row.epoch)
      *same = score;
  }
  return scores;
}

// The time in which sources were read: of it the energies speak.
Stretch metered(const Reader& record) {
  std::optional<base::Seconds> first;
  base::Seconds last{0};
  record.each<Reading>([&](const Reading& reading) {
    first = std::min(first.value_or(reading.seconds), reading.seconds);
    last = std::max(last, reading.seconds);
  });
  if (first && last > *first) return {.begin = *first, .end = last, .shares = {}};
  return {.begin = base::Seconds(0), .end = record.last_seconds(), .shares = {}};
}

// The steps of a run, and which of them is the first: a run that was resumed does not begin with
// step 0, and not every rank need take every step.
struct Steps {
  std::vector<Step> rows;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::set<int> training = {};  ///< ranks that took samples

  explicit Steps(std::vector<Step> all) : rows(std::move(all)) {
    for (const Step& step : rows) {
      first = std::min(first, step.step);
      if (step.samples > 0) training.insert(step.rank);
    }
  }
  std::int64_t place(const Step& step) const { return step.step - first; }
};

void add_steps(const Steps& steps, std::int64_t left_out, Stretch& stretch) {
  for (const Step& step : steps.rows) {
    if (steps.place(step) < left_out) continue;
    stretch.samples += step.samples;
    stretch.passes += step.samples > 0 ? 1 : 0;
    stretch.sent_bytes += step.sent_bytes;
    stretch.waited += step.waited;
  }
  stretch.devices = int(steps.training.size());
}

void add_shares(const Reader& record, const Steps& steps, Stretch& stretch) {
  const base::Seconds all = stretch.length() * stretch.devices;
  if (all <= base::Seconds(0)) return;
  std::map<std::string, base::Seconds> spent;
  record.each<Phase>([&](const Phase& phase) {
    const base::Seconds begin = std::max(phase.begin, stretch.begin);
    const base::Seconds inside = std::min(phase.end, stretch.end) - begin;
    if (inside > base::Seconds(0) && steps.training.contains(phase.rank))
      spent[phase.name] += inside;
  });
  base::Seconds known{0};
  for (const std::string_view name : phases) {
    const base::Seconds time = spent[std::string(name)];
    stretch.shares.push_back({std::string(name), time / all});
    known += time;
  }
  stretch.shares.push_back({"other", std::max(0.0, (all - known) / all)});
}

// When the last rank had done its first steps, as many as are left out; none if no rank went on.
std::optional<base::Seconds> settled_at(const Steps& steps, std::int64_t left_out) {
  std::optional<base::Seconds> at;
  bool went_on = false;
  for (const Step& step : steps.rows) {
    if (steps.place(step) == left_out - 1) at = std::max(at.value_or(step.seconds), step.seconds);
    went_on = went_on || steps.place(step) >= left_out;
  }
  return went_on ? at : std::nullopt;
}

}  // namespace

Summary summarise(const Reader& record) {
  const Steps steps(record.rows<Step>());
  const std::vector<Epoch> epochs = record.rows<Epoch>();
  std::set<std::int64_t> evaluated;
  for (const Epoch& row : epochs) evaluated.insert(row.epoch);

  Summary summary{.run = record.run(),
                  .standing = record.standing(),
                  .epochs = std::int64_t(evaluated.size()),
                  .scores = last_scores(epochs),
                  .whole = metered(record),
                  .settled = {},
                  .settling_steps = whole_number(record.setting("settling_steps"))};
  add_steps(steps, 0, summary.whole);
  add_shares(record, steps, summary.whole);
  const auto settled = settled_at(steps, summary.settling_steps);
  if (settled && *settled < summary.whole.end) {
    Stretch& stretch = summary.settled.emplace();
    stretch.begin = *settled;
    stretch.end = summary.whole.end;
    add_steps(steps, summary.settling_steps, stretch);
    add_shares(record, steps, stretch);
  }
  return summary;
}

}  // namespace parajoule::store
