#include "meter/points.h"

#include <fmt/format.h>

namespace parajoule::meter {

using base::Seconds;

std::vector<Point> points_of(const Series& series, Seconds earlier) {
  std::vector<Point> points;
  for (const Row& row : series.rows)
    if (const auto* value = std::get_if<double>(&row.reading))
      points.push_back({row.at - earlier, *value});
  return points;
}

std::vector<std::string> gaps_told(const Series& series, Span span) {
  std::vector<std::string> told;
  using Cause = Gap::Cause;
  for (Cause cause : {Cause::failed, Cause::implausible, Cause::reset, Cause::missed_wrap,
                      Cause::suspended, Cause::late}) {
    int count = 0;
    const Gap* first = nullptr;
    for (const Row& row : series.rows) {
      const auto* gap = std::get_if<Gap>(&row.reading);
      if (!gap || gap->cause != cause || row.at < span.begin || row.at > span.end) continue;
      if (count++ == 0) first = gap;
    }
    if (count == 1) told.push_back(written(*first));
    if (count > 1) told.push_back(fmt::format("{} times {}", count, written(*first)));
  }
  return told;
}

}  // namespace parajoule::meter
