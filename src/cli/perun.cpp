#include "cli/perun.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "cli/energy_text.h"
#include "cli/perun_file.h"
#include "cli/run_account.h"
#include "measure/series.h"
#include "store/utf8.h"

namespace parajoule::cli {
namespace {

using base::Joules;
using meter::Quantity;

/// perun's kinds of groups, by their numbers.
enum class Kind { application = 1, runs, run, node, devices, sensor };

/// A group with the two that each of perun's has.
struct Place {
  Place(const Hdf5Object& in, const std::string& name, Kind kind)
      : group(in.group(name)), metrics(group.group("metrics")), nodes(group.group("nodes")) {
    group.whole("type", std::int64_t(kind));
  }
  Hdf5Object group;
  Hdf5Object metrics;
  Hdf5Object nodes;
};

void describe(const Hdf5Object& object, const std::string& unit) {
  object.text("unit", unit);
  object.number("mag", 1);
  object.text("dtype", "float64");
  object.number("valid_min", 0);
  object.number("valid_max", std::numeric_limits<double>::max());
  object.number("fill", -1);
}

struct Metric {
  const char* name;  ///< of its group
  const char* type;  ///< perun's word
  const char* unit;
  const char* over;  ///< how it is put together from its parts
};
constexpr Metric energy{"ENERGY", "energy", "J", "sum"};
constexpr Metric power{"POWER", "power", "W", "mean"};
constexpr Metric run_time{"RUNTIME", "runtime", "s", "max"};
constexpr Metric runs{"N_RUNS", "n_runs", "", "sum"};

void add(const Hdf5Object& metrics, const Metric& metric, double value) {
  const Hdf5Object group = metrics.group(metric.name);
  describe(group, metric.unit);
  group.text("type", metric.type);
  group.text("agg_type", metric.over);
  group.number("value", value);
}

void add_statistics(const Hdf5Object& metrics, const Metric& metric,
                    const std::vector<double>& values) {
  const Hdf5Object group = metrics.group(metric.name);
  describe(group, metric.unit);
  group.text("type", metric.type);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double mean = sum / double(values.size());
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  group.number("sum", sum);
  group.number("mean", mean);
  group.number("min", std::ranges::min(values));
  group.number("max", std::ranges::max(values));
  group.number("std", std::sqrt(squares / double(values.size())));
}

void add_measured(const Hdf5Object& metrics, const meter::Totals& totals, base::Seconds wall) {
  add(metrics, run_time, wall.count());
  if (!totals.measured) return;
  add(metrics, energy, totals.measured->energy().value);
  if (wall > base::Seconds(0)) add(metrics, power, (totals.measured->energy() / wall).value);
}

std::string device_type(const std::string& kind) {
  if (kind == "cpu" || kind == "gpu" || kind == "node") return kind;
  if (kind == "memory") return "ram";
  return kind == "outlet" ? "rack" : "other";
}

/// perun's sign for the unit of a source, and what of it one of ours is; none: it has none.
struct Unit {
  std::string sign;
  double factor = 1;
};
std::optional<Unit> unit_of(const meter::Description& description) {
  if (description.unit == "joules") return Unit{"J"};
  if (description.unit == "watts") return Unit{"W"};
  if (description.unit == "bytes") return Unit{"B"};
  if (description.unit == "hertz") return Unit{"Hz"};
  if (description.unit == "fraction") return Unit{"%", 100};
  return {};
}

void add_readings(const Hdf5Object& sensor, const meter::Series& series, const Unit& unit) {
  std::vector<double> times, values;
  for (const meter::Row& row : series.rows) {
    const double* value = std::get_if<double>(&row.reading);
    if (!value) continue;
    times.push_back(row.at.count());
    values.push_back(*value * unit.factor);
  }
  const Hdf5Object raw = sensor.group("raw_data");
  describe(raw.row("timesteps", times), "s");
  describe(raw.row("values", values), unit.sign);
}

void add_sensor(const Hdf5Object& devices, const std::string& name,
                const meter::SourceAccount& source, const meter::Series& series, const Unit& unit) {
  const Place sensor(devices, name, Kind::sensor);
  const meter::Description& description = source.description;
  sensor.group.text("device_type", device_type(description.device_kind));
  sensor.group.text("label", std::string(meter::name_of(description.label)));
  sensor.group.text("covers", store::valid_utf8(description.covers));
  if (description.part_of) sensor.group.text("part_of", store::valid_utf8(*description.part_of));
  if (description.formula) sensor.group.text("formula", store::valid_utf8(*description.formula));
  if (source.energy) {
    add(sensor.metrics, energy, source.energy->value);
    sensor.group.number("uncertainty_joules", source.uncertainty.whole().value);
  }
  if (source.mean_power) add(sensor.metrics, power, source.mean_power->value);
  add_readings(sensor.group, series, unit);
}

/// Sources of one device have names of their own.
class Names {
 public:
  std::string of(const meter::Description& description) {
    const std::string name = fmt::format("{}_{}", store::valid_utf8(description.device),
                                         meter::name_of(description.quantity));
    const int number = ++used_[name];
    return number == 1 ? name : fmt::format("{}_{}", name, number);
  }

 private:
  std::map<std::string, int> used_;
};

void add_node(const Hdf5Object& run, const std::string& name, const meter::NodeAccount& account,
              const std::vector<meter::Series>& series) {
  const Place node(run, name, Kind::node);
  add_measured(node.metrics, account.totals, account.span.length());
  std::map<std::string, Place> groups;
  Names names;
  for (std::size_t i = 0; i < std::min(account.sources.size(), series.size()); ++i) {
    const meter::SourceAccount& source = account.sources[i];
    const auto unit = unit_of(source.description);
    if (!unit) continue;
    const std::string type = device_type(source.description.device_kind);
    auto group = groups.find(type);
    if (group == groups.end()) {
      group = groups.try_emplace(type, node.nodes, type, Kind::devices).first;
      group->second.group.text("device_type", type);
    }
    add_sensor(group->second.nodes, names.of(source.description), source, series[i], *unit);
  }
}

/// The times of each process in each region, begin and end in turn.
void add_regions(const Hdf5Object& run, const store::Reader& record) {
  std::map<std::string, std::map<int, std::vector<double>>> regions;
  record.each<store::Phase>([&](const store::Phase& phase) {
    auto& times = regions[phase.name][phase.rank];
    times.push_back(phase.begin.count());
    times.push_back(phase.end.count());
  });
  if (regions.empty()) return;
  const Hdf5Object all = run.group("regions");
  for (const auto& [name, ranks] : regions) {
    const Hdf5Object region = all.group(store::valid_utf8(name));
    region.text("id", store::valid_utf8(name));
    region.whole("processed", 1);
    region.whole("world_size", std::int64_t(ranks.size()));
    const Hdf5Object raw = region.group("raw_data");
    std::vector<double> counts, lengths;
    for (const auto& [rank, times] : ranks) {
      raw.row(std::to_string(rank), times);
      counts.push_back(double(times.size()) / 2);
      for (std::size_t i = 0; i < times.size(); i += 2) lengths.push_back(times[i + 1] - times[i]);
    }
    add_statistics(region, runs, counts);
    add_statistics(region.group("metrics"), run_time, lengths);
  }
}

}  // namespace

void write_perun(const store::Reader& record, const std::filesystem::path& file,
                 const std::string& library) {
  const RunAccount account = account_of(record);
  auto series = measure::series_of(record);
  const Hdf5Object root = new_hdf5(file, library);
  const store::Run& run = record.run();
  const Place application(root, run.name.empty() ? "parajoule" : store::valid_utf8(run.name),
                          Kind::application);
  const Place multi(application.nodes, run.started_utc, Kind::runs);
  const Place one(multi.nodes, "0", Kind::run);
  for (const auto& [key, value] : {std::pair("parajoule", run.version),
                                   {"id", run.id},
                                   {"command", run.command},
                                   {"started_utc", run.started_utc}})
    one.group.text(key, store::valid_utf8(value));
  const store::Stretch& whole = account.summary.whole;
  add_measured(one.metrics, account.whole.totals, whole.end - whole.begin);
  std::size_t place = 0;
  for (const store::Node& node : record.rows<store::Node>()) {
    const auto own = series.find(node.node);
    while (place < account.whole.nodes.size() && account.whole.nodes[place].sources.empty())
      ++place;
    if (own == series.end() || place == account.whole.nodes.size()) continue;
    add_node(one.nodes, fmt::format("{}_{}", node.node, store::valid_utf8(node.host)),
             account.whole.nodes[place++], own->second);
  }
  if (run.kind == store::Kind::measure) add_regions(one.group, record);
}

}  // namespace parajoule::cli
