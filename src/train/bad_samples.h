#pragma once

// What a person is told, while it happens, of samples that cannot be read.

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::train {

/// The first few by name, after that how many more every now and then: a data set of which much is
/// broken shall not fill a screen or a log. The record holds them all.
class BadSamples {
 public:
  static constexpr int named = 3;
  static constexpr base::Seconds between{10};
  using Tell = std::function<void(std::string_view line)>;

  explicit BadSamples(Tell tell) : tell_(std::move(tell)) {}

  /// One more, of any rank.
  void add(std::string_view line, base::Seconds now);

  /// Tells what was not told yet.
  void finish();

 private:
  void tell_count();

  Tell tell_;
  std::int64_t found_ = 0;
  std::int64_t told_ = 0;
  base::Seconds told_at_{0};
};

}  // namespace parajoule::train
