#include "cli/report_input.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/numbers.h"
#include "cli/report_traced.h"
#include "cli/run_account.h"
#include "cli/summary.h"
#include "measure/account.h"
#include "report/study_csv.h"
#include "store/folder.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;
using report::Measured;
using report::Point;

std::optional<double> number_in(const store::Reader& record, std::string_view key) {
  const std::string text = record.setting(key).value_or("");
  double number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  if (text.empty() || end != text.data() + text.size() || !(number > 0)) return {};
  return number;
}

/// The kind of GPU, as its sensor names it, else the processors of the first node.
std::string hardware_of(const store::Reader& record) {
  for (const store::Source& source : record.rows<store::Source>())
    if (source.device_kind == "gpu") {
      // "GPU 0 NVIDIA H200 (GPU-...), ...": what stands between the number and the identity.
      const std::size_t from = source.covers.find(' ', source.covers.find(' ') + 1);
      const std::size_t to = source.covers.find(" (");
      if (from != std::string::npos && to != std::string::npos && from + 1 < to)
        return source.covers.substr(from + 1, to - from - 1);
      return "GPU";
    }
  const auto nodes = record.rows<store::Node>();
  return nodes.empty() ? "" : fmt::format("{} processors", nodes.front().cpus);
}

void add_error(const store::Summary& summary, Point& point) {
  const store::Score* best = nullptr;
  for (const store::Score& score : summary.scores) {
    if (score.set != "validation" || !std::isfinite(score.value)) continue;
    if (!best || score.metric == "top1_error") best = &score;
  }
  if (!best) return;
  const bool fraction = best->metric.ends_with("_error");
  point.error = Measured{.mean = best->value * (fraction ? 100 : 1)};
  point.error_name = metric_name(best->metric) + (fraction ? ", %" : "");
}

template <meter::Label label>
void add_energy(const Point& run, const std::optional<meter::Total<label>>& total, const char* name,
                ReportInput& input) {
  if (!total) return;
  Point point = run;
  point.label = name;
  const double joules = total->energy().value;
  if (!(joules > 0)) return;
  point.energy_kwh = Measured{.mean = base::kilowatt_hours(total->energy())};
  if (const double bias = total->uncertainty().bias.value; bias > 0) point.bias = bias / joules;
  input.rows.push_back(std::move(point));
}

Point point_of(const store::Reader& record, const RunAccount& account) {
  const store::Stretch& work = account.summary.whole;
  Point point{.series = account.summary.run.name, .hardware = hardware_of(record)};
  point.label = "";
  point.devices = work.devices;
  if (account.summary.run.kind == store::Kind::measure)
    point.devices = measure::account_of(record).accelerators;
  const double hours = point.devices * base::hours(work.length());
  if (hours > 0) point.device_hours = Measured{.mean = hours};
  const double nodes = double(std::max<std::size_t>(record.rows<store::Node>().size(), 1));
  if (point.devices > 0) point.devices_per_node = std::ceil(point.devices / nodes);
  point.local_batch = number_in(record, "local_batch_size");
  point.global_batch = number_in(record, "global_batch_size");
  point.epochs = number_in(record, "epochs");
  if (work.samples > 0) point.samples = double(work.samples);
  if (work.passes > 0) point.passes = double(work.passes);
  if (point.samples && point.epochs) point.data_set = std::round(*point.samples / *point.epochs);
  if (const auto seed = record.setting("seed")) point.seeds = {*seed};
  point.behind = {fmt::format("{} ({})", record.run().id, record.path().filename().string())};
  add_error(account.summary, point);
  return point;
}

void add_file(const fs::path& file, ReportInput& input) {
  try {
    add_record(store::Reader(file), input);
  } catch (const base::Error& error) {
    if (error.fault == base::Fault::bug) throw;
    input.missing.emplace_back(error.what());
  }
}

void add_folder(const fs::path& folder, ReportInput& input) {
  std::set<fs::path> folders = {folder};
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    if (at->is_directory()) folders.insert(at->path());
  if (failed)
    throw base::Error(base::Fault::environment, fmt::format("cannot read the folder '{}': {}",
                                                            folder.string(), failed.message()));
  std::vector<fs::path> files;
  for (const fs::path& each : folders)
    for (const fs::path& file : store::records_in(each)) files.push_back(file);
  std::ranges::sort(files);
  for (const fs::path& file : files) add_file(file, input);
}

int rank_of(const std::string& label) {
  constexpr std::string_view order[] = {"measured", "modelled", "simulated"};
  return int(std::ranges::find(order, label) - std::begin(order));
}
constexpr int unknown = 3;

}  // namespace

void add_record(const store::Reader& record, ReportInput& input) {
  const std::string who =
      fmt::format("run {} ({})", record.run().id, record.path().filename().string());
  if (record.standing() != store::Standing::done)
    return input.missing.push_back(
        fmt::format("{}: is {}, left out", who, word_for(record.standing())));
  if (record.setting("continues"))
    return input.missing.push_back(
        who + ": goes on from an earlier record, so it is a part of a training; left out");
  const RunAccount account = account_of(record);
  const Point run = point_of(record, account);
  if (!run.device_hours)
    input.missing.push_back(who + (run.devices == 0 ? ": no device took part, so no device hours"
                                                    : ": no time passed, so no device hours"));
  if (auto run_traced = traced(record, account)) input.traced.push_back(std::move(*run_traced));
  const std::size_t before = input.rows.size();
  const meter::Totals& totals = account.whole.totals;
  add_energy(run, totals.measured, "measured", input);
  add_energy(run, totals.modelled, "modelled", input);
  add_energy(run, totals.simulated, "simulated", input);
  if (input.rows.size() > before) return;
  input.missing.push_back(who + ": no energy");
  input.rows.push_back(run);
}

void add_path(const fs::path& path, ReportInput& input) {
  std::error_code failed;
  if (fs::is_directory(path, failed)) return add_folder(path, input);
  if (path.extension() != ".csv") {
    if (!fs::exists(path, failed))
      throw base::Error(base::Fault::input,
                        fmt::format("'{}' is not there: report takes records (.db), folders of "
                                    "records, and CSV of runs",
                                    path.string()));
    return add_file(path, input);
  }
  report::FromCsv read = report::read_csv(path);
  input.rows.insert(input.rows.end(), read.rows.begin(), read.rows.end());
  input.missing.insert(input.missing.end(), read.missing.begin(), read.missing.end());
}

void keep_one_label(ReportInput& input) {
  std::string best;
  for (const Point& row : input.rows)
    if (rank_of(row.label) < rank_of(best)) best = row.label;
  if (best.empty()) return;
  std::set<std::string> kept, others;
  for (const Point& row : input.rows)
    if (!row.behind.empty() && row.label == best) kept.insert(row.behind.front());
  std::erase_if(input.rows, [&](Point& row) {
    if (rank_of(row.label) == unknown || row.label == best) return false;
    if (kept.contains(row.behind.front())) return true;
    if (!others.insert(row.behind.front()).second) return true;
    row.energy_kwh.reset();  // its time is known all the same
    row.label.clear();
    return false;
  });
  for (const std::string& who : others)
    input.missing.push_back(fmt::format("run {}: has no energy that is {}", who, best));
}

}  // namespace parajoule::cli
