#include "meter/modules.h"

#include <set>
#include <string>
#include <utility>

#include "meter/redescribed.h"

namespace parajoule::meter {

namespace {

constexpr std::string_view processor = "grace ";
constexpr std::string_view module = "module ";

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
    if (!modules.contains(whole)) continue;
    Description described = is;
    described.part_of = std::move(whole);
    source = std::make_unique<Redescribed>(std::move(source), std::move(described));
  }
}

}  // namespace parajoule::meter
