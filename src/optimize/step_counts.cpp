#include "optimize/step_counts.h"

#include <iterator>
#include <span>

#include "base/error.h"

namespace parajoule::optimize {

StepCounts::StepCounts(std::size_t elements) : elements_(elements), begins_{{0, 0}} {}

StepCounts::Begins::iterator StepCounts::cut(std::size_t at) {
  if (at == elements_) return begins_.end();
  const auto next = begins_.upper_bound(at);
  return begins_.emplace_hint(next, at, std::prev(next)->second);
}

std::size_t StepCounts::end_of(Begins::const_iterator begin) const {
  const auto next = std::next(begin);
  return next == begins_.end() ? elements_ : next->first;
}

std::vector<StepCounts::Counted> StepCounts::advance(base::Range range) {
  base::ensure(range.begin <= range.end && range.end <= elements_,
               "a step's range lies in the layout");
  if (range.size() == 0) return {};
  const auto end = cut(range.end);
  const auto begin = cut(range.begin);
  std::vector<Counted> counted;
  for (auto part = begin; part != end; ++part) {
    ++part->second;
    counted.push_back({{part->first, end_of(part)}, part->second});
  }
  if (end != begins_.end() && std::prev(end)->second == end->second) begins_.erase(end);
  if (begin != begins_.begin() && std::prev(begin)->second == begin->second) begins_.erase(begin);
  return counted;
}

std::vector<StepCounts::Counted> StepCounts::all() const {
  std::vector<Counted> counted;
  for (auto part = begins_.begin(); part != begins_.end(); ++part)
    counted.push_back({{part->first, end_of(part)}, part->second});
  return counted;
}

void StepCounts::save(base::Archive& archive) const {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> steps;
  for (const auto& [begin, count] : begins_) {
    begins.push_back(std::int64_t(begin));
    steps.push_back(count);
  }
  archive.put("step_ranges", std::int64_t(begins.size()));
  archive.put("step_begins", base::Vector(std::span(begins)));
  archive.put("steps", base::Vector(std::span(steps)));
}

void StepCounts::load(const base::Archive& archive) {
  const std::int64_t ranges = archive.whole("step_ranges");
  const auto refuse = [] {
    throw base::Error(base::Fault::input,
                      "checkpoint: 'step_begins' does not cut the parameters into ranges; it is "
                      "damaged, resume from an older one");
  };
  if (ranges < 1 || std::uint64_t(ranges) > elements_ + 1) refuse();
  std::vector<std::int64_t> begins(static_cast<std::size_t>(ranges));
  std::vector<std::int64_t> steps(static_cast<std::size_t>(ranges));
  archive.get("step_begins", base::Vector(std::span(begins)));
  archive.get("steps", base::Vector(std::span(steps)));
  Begins loaded;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const bool follows = i == 0 ? begins[0] == 0 : begins[i] > begins[i - 1];
    if (!follows || (i > 0 && std::uint64_t(begins[i]) >= elements_)) refuse();
    loaded.emplace_hint(loaded.end(), std::size_t(begins[i]), steps[i]);
  }
  begins_ = std::move(loaded);
}

}  // namespace parajoule::optimize
