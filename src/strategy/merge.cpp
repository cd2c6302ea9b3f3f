#include "strategy/merge.h"

#include <algorithm>

namespace parajoule::strategy {

std::vector<base::Range> merged_ranges(const schedule::Layout& layout, base::Element element,
                                       std::size_t bytes) {
  const std::size_t each = std::max<std::size_t>(1, bytes / base::bytes_of(element));
  std::vector<base::Range> ranges;
  std::size_t end = layout.parameter_count();
  for (auto parameter = layout.parameters.rbegin(); parameter != layout.parameters.rend();
       ++parameter) {
    const std::size_t begin = parameter->range.begin;
    const std::size_t wanted = ranges.empty() ? each / 8 : each;
    if (end - begin < wanted && begin != 0) continue;
    if (end > begin) ranges.push_back({begin, end});
    end = begin;
  }
  return ranges;
}

std::vector<base::Range> lazy_ranges(const schedule::Layout& layout, base::Element element,
                                     std::size_t threshold) {
  std::vector<base::Range> ranges;
  std::size_t end = layout.parameter_count();
  for (auto parameter = layout.parameters.rbegin(); parameter != layout.parameters.rend();
       ++parameter) {
    const std::size_t begin = parameter->range.begin;
    const bool exceeds = (end - begin) * base::bytes_of(element) > threshold;
    if (!exceeds && begin != 0) continue;
    if (end > begin) ranges.push_back({begin, end});
    end = begin;
  }
  return ranges;
}

MergedSum::MergedSum(std::vector<base::Range> ranges, Start start)
    : ranges_(std::move(ranges)), start_(std::move(start)) {
  for (const base::Range& range : ranges_) missing_.push_back(range.size());
  under_way_.reserve(ranges_.size());
}

MergedSum::MergedSum(comm::Communicator& group, base::Vector gradients,
                     std::vector<base::Range> ranges, double factor)
    : MergedSum(std::move(ranges), [this, &group, gradients, factor](std::size_t range) {
        return group.start_sum(gradients[ranges_[range]], factor);
      }) {}

void MergedSum::ready(base::Range range) {
  for (std::size_t i = under_way_.size(); i < ranges_.size(); ++i) {
    if (ranges_[i].end <= range.begin) break;  // they follow each other downwards
    const std::size_t begin = std::max(range.begin, ranges_[i].begin);
    const std::size_t end = std::min(range.end, ranges_[i].end);
    if (begin < end) missing_[i] -= end - begin;
  }
  start_ready();
}

void MergedSum::push() {
  if (!under_way_.empty()) under_way_.back().done();
}

void MergedSum::start_ready() {
  while (under_way_.size() < ranges_.size() && missing_[under_way_.size()] == 0)
    under_way_.push_back(start_(under_way_.size()));
}

void MergedSum::finish() {
  std::ranges::fill(missing_, 0);
  start_ready();
  for (comm::Pending& sum : under_way_) sum.wait();
}

}  // namespace parajoule::strategy
