#include "train/agreement.h"

namespace parajoule::train {

Agreement::Agreement(comm::Communicator& group, std::int64_t drift)
    : group_(group),
      slots_(std::size_t(drift) + 1),
      memory_(group.allocate(base::Element::float64, slots_ * width)),
      under_way_(slots_) {}

std::optional<Standing> Agreement::say(const Standing& own) {
  const std::size_t slot = said_++ % slots_;
  const base::Vector values = memory_[{slot * width, (slot + 1) * width}];
  const auto numbers = values.as<double>();
  numbers[0] = own.samples;
  numbers[1] = own.loss;
  numbers[2] = own.wrong;
  numbers[3] = own.stop;
  numbers[4] = own.not_a_number;
  under_way_[slot] = group_.start_sum(values);
  if (said_ - taken_ < slots_) return std::nullopt;
  return take_oldest();
}

std::vector<Standing> Agreement::drain() {
  std::vector<Standing> all;
  while (taken_ < said_) all.push_back(take_oldest());
  return all;
}

Standing Agreement::take_oldest() {
  const std::size_t slot = taken_++ % slots_;
  under_way_[slot].wait();
  const auto sum = memory_[{slot * width, (slot + 1) * width}].as<double>();
  return {
      .samples = sum[0], .loss = sum[1], .wrong = sum[2], .stop = sum[3], .not_a_number = sum[4]};
}

}  // namespace parajoule::train
