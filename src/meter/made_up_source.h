#pragma once

// For tests: a source that answers what a function says.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "meter/source.h"

namespace parajoule::meter {

class MadeUpSource final : public Source {
 public:
  using Answer = std::function<Reading(base::Seconds)>;
  MadeUpSource(Description description, Answer answer)
      : description_(std::move(description)), answer_(std::move(answer)) {}
  const Description& description() const override { return description_; }
  Reading read(base::Seconds now) override { return answer_(now); }

 private:
  Description description_;
  Answer answer_;
};

inline Description described(std::string device, Quantity quantity, Label label = Label::measured) {
  return {.device = std::move(device),
          .device_kind = "cpu",
          .quantity = quantity,
          .unit = quantity == Quantity::energy ? "joules" : "watts",
          .label = label,
          .covers = "made up"};
}

inline std::unique_ptr<Source> made_up(Description description, MadeUpSource::Answer answer) {
  return std::make_unique<MadeUpSource>(std::move(description), std::move(answer));
}

}  // namespace parajoule::meter
