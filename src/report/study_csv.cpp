#include "report/study_csv.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "report/decimal.h"

namespace parajoule::report {
namespace {

struct Line {
  int number;
  std::vector<std::string> fields;
};

/// One line of RFC 4180, which quotes may spread over several; none at the end.
std::optional<Line> next_line(std::istream& in, int& number) {
  std::string text;
  do {
    if (!std::getline(in, text)) return {};
    ++number;
  } while (base::trimmed(text).empty());
  Line line{number, {""}};
  bool quoted = false;
  for (std::size_t at = 0;; ++at) {
    if (at == text.size()) {
      std::string more;
      if (!quoted || !std::getline(in, more)) return line;
      ++number;
      text += "\n" + more;
    }
    const char letter = text[at];
    if (letter == '"' && quoted && at + 1 < text.size() && text[at + 1] == '"')
      line.fields.back() += text[++at];
    else if (letter == '"')
      quoted = !quoted;
    else if (letter == ',' && !quoted)
      line.fields.emplace_back();
    else if (letter != '\r')
      line.fields.back() += letter;
  }
}

class Row {
 public:
  Row(const std::map<std::string, std::size_t>& columns, const Line& line, FromCsv& told,
      const std::string& name)
      : columns_(columns),
        line_(line),
        told_(told),
        place_(fmt::format("{} line {}", name, line.number)) {}

  const std::string& place() const { return place_; }

  std::string text(const std::string& column) const {
    const auto found = columns_.find(column);
    if (found == columns_.end() || found->second >= line_.fields.size()) return {};
    return std::string(base::trimmed(line_.fields[found->second]));
  }

  std::optional<Decimal> number(const std::string& column) {
    const std::string given = text(column);
    if (given.empty()) return {};
    const auto number = decimal_of(given);
    if (!number)
      told_.missing.push_back(fmt::format("{}: {} '{}' is no number", place_, column, given));
    return number;
  }

  std::optional<double> value(const std::string& column) {
    const auto found = number(column);
    return found ? std::optional(found->value) : std::nullopt;
  }

  /// A number that only makes sense above zero.
  std::optional<double> positive(const std::string& column) {
    const auto found = value(column);
    if (!found || *found > 0) return found;
    told_.missing.push_back(fmt::format("{}: {} is {}, which is left out", place_, column, *found));
    return {};
  }

  std::optional<Measured> measured(const std::string& column, int repeats) {
    const auto mean = number(column);
    if (!mean) return {};
    Measured result{.mean = mean->value, .half_unit = mean->half_unit, .deviation = {}};
    const auto population = positive(column + "_std"), sample = positive(column + "_sample_std");
    if (repeats < 2) return result;
    if (sample)
      result.deviation = sample;
    else if (population)
      result.deviation = sample_from_population(*population, repeats);
    return result;
  }

 private:
  const std::map<std::string, std::size_t>& columns_;
  const Line& line_;
  FromCsv& told_;
  std::string place_;
};

Point point_of(Row row, FromCsv& told) {
  Point point{.series = row.text("series"), .hardware = row.text("hardware")};
  if (const std::string label = row.text("label"); !label.empty()) point.label = label;
  point.devices = int(row.positive("gpus").value_or(row.positive("devices").value_or(0)));
  point.devices_per_node = row.positive("devices_per_node");
  point.local_batch = row.positive("local_batch_size");
  point.global_batch = row.positive("global_batch_size");
  point.data_set = row.positive("dataset_samples");
  point.epochs = row.positive("epochs");
  point.repeats = int(row.positive("repeats").value_or(1));
  if (point.data_set && point.epochs) point.samples = *point.data_set * *point.epochs;
  if (point.samples && point.local_batch) point.passes = *point.samples / *point.local_batch;
  point.energy_kwh = row.measured("energy_kwh", point.repeats);
  point.device_hours = row.measured("device_hours", point.repeats);
  point.error = row.measured("top1_error_percent", point.repeats);
  point.error_name = point.error ? "top-1 error, %" : "";
  point.bias = row.positive("bias_relative");
  if (const std::string seed = row.text("seed"); !seed.empty()) point.seeds = {seed};
  point.behind = {row.place()};
  const auto drop = [&](std::optional<Measured>& number, std::string_view what) {
    if (number && number->mean > 0) return;
    told.missing.push_back(number ? fmt::format("{}: {} {}, left out of what needs them",
                                                row.place(), number->mean, what)
                                  : fmt::format("{}: no {}", row.place(), what));
    number.reset();
  };
  drop(point.energy_kwh, "kWh of energy");
  drop(point.device_hours, "device hours");
  if (point.devices == 0) told.missing.push_back(row.place() + ": no number of devices");
  return point;
}

void refuse(const std::string& name, const std::string& why) {
  throw base::Error(
      base::Fault::input,
      fmt::format("'{}' is no CSV of runs: {}; docs/report.md names the columns", name, why));
}

}  // namespace

FromCsv read_csv(std::istream& in, const std::string& name) {
  int number = 0;
  auto head = next_line(in, number);
  if (!head) refuse(name, "it is empty");
  if (head->fields.front().starts_with("\xEF\xBB\xBF")) head->fields.front().erase(0, 3);
  std::map<std::string, std::size_t> columns;
  for (std::size_t i = 0; i < head->fields.size(); ++i)
    columns.emplace(base::trimmed(head->fields[i]), i);
  for (const char* needed : {"series", "device_hours"})
    if (!columns.contains(needed)) refuse(name, fmt::format("it has no column '{}'", needed));
  if (!columns.contains("gpus") && !columns.contains("devices"))
    refuse(name, "it has no column 'gpus' or 'devices'");
  FromCsv result;
  while (const auto line = next_line(in, number)) {
    if (line->fields.size() > head->fields.size()) {
      result.missing.push_back(fmt::format("{} line {}: {} fields under {} columns, left out", name,
                                           line->number, line->fields.size(), head->fields.size()));
      continue;
    }
    result.rows.push_back(point_of({columns, *line, result, name}, result));
  }
  return result;
}

FromCsv read_csv(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file))
    throw base::Error(base::Fault::input, fmt::format("cannot read '{}': {}", file.string(),
                                                      std::strerror(errno ? errno : EISDIR)));
  return read_csv(in, file.filename().string());
}

}  // namespace parajoule::report
