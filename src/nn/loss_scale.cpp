#include "nn/loss_scale.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::nn {

LossScale::LossScale(Precision precision) : LossScale(precision, Options()) {}

LossScale::LossScale(Precision precision, const Options& options)
    : options_(options),
      scales_(precision == Precision::float16),
      scale_(scales_ ? options.start : 1) {}

Overflow LossScale::check(base::Vector gradients) const {
  return scales_ && !gradients.finite() ? Overflow::found : Overflow::none;
}

LossScale::Step LossScale::proceed(Overflow agreed) {
  if (!scales_) return Step::take;
  if (agreed == Overflow::none) {
    halvings_ = 0;
    if (++steps_ == options_.growth_steps) {
      scale_ = std::min(2 * scale_, options_.most);
      steps_ = 0;
    }
    return Step::take;
  }
  scale_ /= 2;
  steps_ = 0;
  if (++halvings_ < options_.give_up_after) return Step::skip;
  throw base::Error(base::Fault::not_a_number,
                    fmt::format("the gradients were not finite in {} steps in a row, the last at a "
                                "loss scale of {:g}; lower the learning rate or use bfloat16",
                                halvings_, 2 * scale_));
}

void LossScale::save(base::Archive& archive) const {
  archive.put("scale", scale_);
  archive.put("steps", steps_);
  archive.put("halvings", std::int64_t(halvings_));
}

void LossScale::load(const base::Archive& archive) {
  scale_ = archive.number("scale");
  steps_ = archive.whole("steps");
  halvings_ = int(archive.whole("halvings"));
}

}  // namespace parajoule::nn
