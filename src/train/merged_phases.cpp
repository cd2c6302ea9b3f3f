#include "train/merged_phases.h"

#include <string>
#include <utility>

namespace parajoule::train {
namespace {

constexpr std::string_view recorded_name(Phase phase) { return store::phases[std::size_t(phase)]; }

static_assert(std::size(store::phases) == phase_count);
static_assert(recorded_name(Phase::data_wait) == "data_wait");
static_assert(recorded_name(Phase::forward) == "forward");
static_assert(recorded_name(Phase::backward) == "backward");
static_assert(recorded_name(Phase::exposed_communication) == "exposed_communication");
static_assert(recorded_name(Phase::update) == "update");
static_assert(recorded_name(Phase::evaluation) == "evaluation");
static_assert(recorded_name(Phase::checkpoint) == "checkpoint");

}  // namespace

void MergedPhases::add(const std::vector<Phases::Interval>& intervals,
                       std::vector<store::Phase>& rows) {
  for (const Phases::Interval& interval : intervals) {
    if (begin_ && interval.end - *begin_ > window) flush(rows);
    if (!begin_) begin_ = interval.begin;
    spent_[std::size_t(interval.phase)] += interval.end - interval.begin;
    if (interval.end - *begin_ >= window) flush(rows);
  }
}

void MergedPhases::flush(std::vector<store::Phase>& rows) {
  if (!begin_) return;
  base::Seconds at = *begin_ - origin_;
  for (std::size_t phase = 0; phase < spent_.size(); ++phase) {
    const base::Seconds spent = std::exchange(spent_[phase], base::Seconds(0));
    if (spent <= base::Seconds(0)) continue;
    rows.push_back({rank_, std::string(recorded_name(Phase(phase))), at, at + spent});
    at += spent;
  }
  begin_.reset();
}

}  // namespace parajoule::train
