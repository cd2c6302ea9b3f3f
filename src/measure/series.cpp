#include "measure/series.h"

#include "measure/rows.h"

namespace parajoule::measure {

std::map<int, std::vector<meter::Series>> series_of(const store::Reader& record) {
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
  record.each<store::Reading>([&](const store::Reading& reading) {
    const auto place = places.find(reading.source);
    if (place == places.end()) return;  // a record holds none of unknown sources
    const std::size_t number = place->second.series;
    nodes[place->second.node][number].rows.push_back(meter_row(reading, number));
  });
  return nodes;
}

}  // namespace parajoule::measure
