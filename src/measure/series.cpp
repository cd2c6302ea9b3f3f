#include "measure/series.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "measure/rows.h"
#include "measure/settings.h"

namespace parajoule::measure {
namespace {

/// Of joules, watts, hertz or bytes: more than any machine has.
constexpr double most_value = 1e18;
constexpr double most_seconds = 1e12;

void require(const store::Reader& record, const std::string& what, double value, double most) {
  if (std::abs(value) <= most) return;  // which holds for nothing that is no number
  throw base::Error(base::Fault::input, fmt::format("'{}' is not a sound record: {} is {}",
                                                    record.path().string(), what, value));
}

void require_sound_times(const store::Reader& record) {
  const auto settings = record.rows<store::Setting>();
  for (const store::Setting& setting : settings)
    if (setting.key.ends_with("_seconds"))
      if (const auto seconds = number_in<double>(settings, setting.key))
        require(record, fmt::format("setting '{}'", setting.key), *seconds, most_seconds);
  std::size_t row = 0;
  record.each<store::Phase>([&](const store::Phase& phase) {
    const std::string what = fmt::format("a time of row {} of table phase", ++row);
    require(record, what, phase.begin.count(), most_seconds);
    require(record, what, phase.end.count(), most_seconds);
  });
}

}  // namespace

std::map<int, std::vector<meter::Series>> series_of(const store::Reader& record) {
  require_sound_times(record);
  struct Place {
    int node;
    std::size_t series;
  };
  std::map<int, Place> places;
  std::map<int, std::vector<meter::Series>> nodes;
  for (const store::Source& source : record.rows<store::Source>()) {
    auto& series = nodes[source.node];
    places[source.source] = {source.node, series.size()};
    series.push_back({description_of(source), {}});
  }
  std::size_t row = 0;
  record.each<store::Reading>([&](const store::Reading& reading) {
    ++row;
    if (!(std::abs(reading.seconds.count()) <= most_seconds))
      require(record, fmt::format("the time of row {} of table reading", row),
              reading.seconds.count(), most_seconds);
    if (reading.value && !(std::abs(*reading.value) <= most_value))
      require(record, fmt::format("the value of row {} of table reading", row), *reading.value,
              most_value);
    const auto place = places.find(reading.source);
    if (place == places.end()) return;  // a record holds none of unknown sources
    const std::size_t number = place->second.series;
    nodes[place->second.node][number].rows.push_back(meter_row(reading, number));
  });
  return nodes;
}

}  // namespace parajoule::measure
