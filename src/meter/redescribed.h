#pragma once

#include <memory>
#include <utility>

#include "meter/source.h"

namespace parajoule::meter {

/// A source of which more is known than it says of itself.
class Redescribed final : public Source {
 public:
  Redescribed(std::unique_ptr<Source> source, Description description)
      : source_(std::move(source)), description_(std::move(description)) {}

  const Description& description() const override { return description_; }
  Reading read(base::Seconds now) override { return source_->read(now); }
  bool ready() override { return source_->ready(); }
  void refresh(std::chrono::steady_clock::time_point since) override { source_->refresh(since); }
  base::Seconds age() const override { return source_->age(); }
  base::Seconds cpu_elsewhere() const override { return source_->cpu_elsewhere(); }

 private:
  std::unique_ptr<Source> source_;
  Description description_;
};

}  // namespace parajoule::meter
