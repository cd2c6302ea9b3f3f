#include "meter/modules.h"

#include <set>
#include <string>
#include <utility>

namespace parajoule::meter {

namespace {

constexpr std::string_view processor = "grace ";
constexpr std::string_view module = "module ";

/// A source whose device is part of another after all.
class PartOf final : public Source {
 public:
  PartOf(std::unique_ptr<Source> source, std::string whole)
      : source_(std::move(source)), description_(source_->description()) {
    description_.part_of = std::move(whole);
  }
  const Description& description() const override { return description_; }
  Reading read(base::Seconds now) override { return source_->read(now); }
  bool ready() override { return source_->ready(); }
  base::Seconds age() const override { return source_->age(); }
  base::Seconds cpu_elsewhere() const override { return source_->cpu_elsewhere(); }

 private:
  std::unique_ptr<Source> source_;
  Description description_;
};

}  // namespace

void relate_modules(std::vector<std::unique_ptr<Source>>& sources) {
  std::set<std::string> modules;
  for (const auto& source : sources)
    if (source->description().device.starts_with(module))
      modules.insert(source->description().device);
  for (auto& source : sources) {
    const Description& is = source->description();
    if (is.part_of || !is.device.starts_with(processor)) continue;
    std::string whole = std::string(module) + is.device.substr(processor.size());
    if (modules.contains(whole))
      source = std::make_unique<PartOf>(std::move(source), std::move(whole));
  }
}

}  // namespace parajoule::meter
