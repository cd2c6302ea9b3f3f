#include "measure/join.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "measure/rows.h"
#include "meter/wall.h"
#include "store/amend.h"
#include "store/file_name.h"
#include "store/reader.h"

namespace parajoule::measure {

using std::filesystem::path;

Joined joined(const path& file, const std::string& started_utc, meter::Span run, int first_source,
              int node) {
  meter::Wall wall = meter::wall_of(file, store::seconds_of_utc(started_utc), run);
  Joined rows{.remarks = std::move(wall.remarks)};
  for (const meter::Series& series : wall.series) {
    const int source = first_source + int(rows.sources.size());
    rows.sources.push_back(row_of(series.description, source, node));
    for (const meter::Row& row : series.rows) {
      store::Reading reading = row_of(row, 0);
      reading.source = source;
      rows.readings.push_back(std::move(reading));
    }
  }
  return rows;
}

void append(Joined& all, Joined more) {
  std::ranges::move(more.sources, std::back_inserter(all.sources));
  std::ranges::move(more.readings, std::back_inserter(all.readings));
  std::ranges::move(more.remarks, std::back_inserter(all.remarks));
}

namespace {

/// From the first to the last reading.
meter::Span metered(const store::Reader& record) {
  std::optional<meter::Span> span;
  record.each<store::Reading>([&](const store::Reading& reading) {
    if (!span) span = {reading.seconds, reading.seconds};
    span->begin = std::min(span->begin, reading.seconds);
    span->end = std::max(span->end, reading.seconds);
  });
  return span.value_or(meter::Span{base::Seconds(0), record.last_seconds()});
}

}  // namespace

std::vector<std::string> join(const path& record, const path& file, int node) {
  const store::Reader reader(record);
  const auto nodes = reader.rows<store::Node>();
  if (std::ranges::count(nodes, node, &store::Node::node) == 0)
    throw base::Error(base::Fault::usage, fmt::format("the record has no node {}", node));
  const auto sources = reader.rows<store::Source>();
  int next = 0;
  for (const store::Source& source : sources) next = std::max(next, source.source + 1);
  Joined rows = joined(file, reader.run().started_utc, metered(reader), next, node);
  if (rows.sources.empty())
    throw base::Error(base::Fault::input, rows.remarks.empty()
                                              ? fmt::format("{}: no rows", file.string())
                                              : rows.remarks.back());
  for (const store::Source& one : rows.sources)
    if (std::ranges::any_of(sources, [&](const store::Source& other) {
          return other.node == node && other.covers == one.covers;
        }))
      throw base::Error(base::Fault::usage,
                        fmt::format("the record has this already: {}", one.covers));
  store::amend(record, {.sources = std::move(rows.sources), .readings = std::move(rows.readings)});
  return rows.remarks;
}

}  // namespace parajoule::measure
