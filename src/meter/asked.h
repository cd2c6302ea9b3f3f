#pragma once

// A source that asks a library: for meters that answer a call instead of being files.

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "base/quantity.h"
#include "meter/counter.h"
#include "meter/source.h"

namespace parajoule::meter {

/// A number in the unit of its source, or why there is none.
using Answer = std::variant<double, std::string>;

/// Energy that is asked for goes through a `Counter`; power above `most` is implausible.
class AskedSource final : public Source {
 public:
  struct Options {
    Description description;
    std::function<Answer()> ask;
    base::Watts most;  ///< more than the device can ever draw
  };

  explicit AskedSource(Options options);
  const Description& description() const override { return options_.description; }
  Reading read(base::Seconds now) override;

 private:
  Options options_;
  Counter counter_;
};

}  // namespace parajoule::meter
