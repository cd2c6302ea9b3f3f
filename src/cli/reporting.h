#pragma once

// What a run tells, in words and numbers for a person.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "cli/live.h"
#include "train/reporter.h"

namespace parajoule::cli {

/// Where a rank's words go: to a person, or to the launcher, which owns the terminal.
struct Outlet {
  std::function<void(const Standing&)> show;    ///< the live line
  std::function<void(std::string_view)> print;  ///< whole lines
  std::function<base::Seconds()> now;
};
/// Through `file`, which does not block from then on: a launcher may not read for a while, as
/// behind a paused terminal, or be gone, and the rank neither waits for it nor dies with it.
Outlet to_launcher(int file);
/// `live` must outlive it.
Outlet to_person(Live& live);

class Reporting final : public train::Reporter {
 public:
  /// Epochs shorter than this are not all told; the last one is, and the record holds each.
  static constexpr base::Seconds between_evaluations{2};

  explicit Reporting(Outlet outlet) : outlet_(std::move(outlet)) {}

  void note(std::string_view text) override;
  void live(const train::LiveState& state) override;
  void evaluating(std::int64_t epoch) override;
  void evaluated(std::int64_t epoch, const std::vector<train::Metric>& metrics) override;

 private:
  Outlet outlet_;
  Standing last_;
  std::optional<base::Seconds> evaluation_told_at_;
};

/// What a state of training looks like on the live line.
Standing standing_of(const train::LiveState& state);

/// "epoch 1: validation loss 0.412, top-1 error 14.3 %".
std::string evaluation_line(std::int64_t epoch, const std::vector<train::Metric>& metrics);

}  // namespace parajoule::cli
