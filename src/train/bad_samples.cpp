#include "train/bad_samples.h"

#include <fmt/format.h>

namespace parajoule::train {

void BadSamples::add(std::string_view line, base::Seconds now) {
  ++found_;
  if (found_ <= named) {
    tell_(line);
    told_ = found_;
    told_at_ = now;
  } else if (now - told_at_ >= between) {
    tell_count();
    told_at_ = now;
  }
}

void BadSamples::finish() {
  if (told_ < found_) tell_count();
}

void BadSamples::tell_count() {
  const auto more = found_ - told_;
  tell_(fmt::format("{} more bad sample{}, {} in all: each has a line in the record", more,
                    more == 1 ? "" : "s", found_));
  told_ = found_;
}

}  // namespace parajoule::train
