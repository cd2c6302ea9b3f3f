#include "cli/timeline.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "store/tables.h"

namespace parajoule::cli {
namespace {

using Json = nlohmann::json;

// Ranks have their own numbers as processes; nodes begin where no rank is.
constexpr int first_node = 100'000'000;

double microseconds(base::Seconds moment) { return moment.count() * 1e6; }

std::string quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Error unwritten(const std::filesystem::path& path) {
  return {base::Fault::environment,
          fmt::format("--timeline {}: cannot be written: {}", path.string(), std::strerror(errno))};
}

}  // namespace

Timeline::Timeline(const std::filesystem::path& file) : path_(file), file_(file) {
  if (!file_) throw unwritten(path_);
  file_ << "[";
}

void Timeline::event(const std::string& json) { file_ << (named_.empty() ? "\n" : ",\n") << json; }

void Timeline::name(int process, std::string_view kind, int number) {
  if (named_.contains(process)) return;
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{} {}"}}}})",
                    process, kind, number));
  named_.insert(process);
  if (kind != "rank") return;
  for (int lane : {0, 1})
    event(
        fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                    process, lane, lane == 0 ? "device" : "link"));
}

void Timeline::span(int rank, Lane lane, std::string_view what, base::Seconds begin,
                    base::Seconds end) {
  name(rank, "rank", rank);
  event(fmt::format(R"({{"ph":"X","name":{},"pid":{},"tid":{},"ts":{},"dur":{}}})", quoted(what),
                    rank, int(lane), microseconds(begin), microseconds(end - begin)));
}

void Timeline::value(int node, std::string_view curve, base::Seconds at, double value) {
  name(first_node + node, "node", node);
  event(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"value":{}}}}})",
                    quoted(curve), first_node + node, microseconds(at), value));
}

void Timeline::word(std::string_view text, base::Seconds at) {
  name(first_node, "node", 0);
  event(fmt::format(R"({{"ph":"i","s":"g","name":{},"pid":{},"tid":0,"ts":{}}})", quoted(text),
                    first_node, microseconds(at)));
}

void Timeline::finish() {
  file_ << "\n]\n";
  file_.close();
  if (!file_) throw unwritten(path_);
}

namespace {

/// One source's readings as the curve of its power.
class PowerCurve {
 public:
  PowerCurve(const store::Source& source, Timeline& timeline)
      : source_(&source),
        timeline_(&timeline),
        name_(fmt::format("{}, W ({})", source.device, store::text_of(source.label))) {}

  void add(const store::Reading& reading) {
    if (!reading.value) {
      before_.reset();
      return;
    }
    if (source_->quantity == store::Quantity::power) {
      timeline_->value(source_->node, name_, reading.seconds, *reading.value);
      return;
    }
    // The mean power of a span holds from its beginning.
    if (before_ && reading.seconds > before_->seconds)
      timeline_->value(
          source_->node, name_, before_->seconds,
          (*reading.value - *before_->value) / (reading.seconds - before_->seconds).count());
    before_ = reading;
  }

 private:
  const store::Source* source_;
  Timeline* timeline_;
  std::string name_;
  std::optional<store::Reading> before_ = {};
};

void write_power(const store::Reader& record, Timeline& timeline) {
  const std::vector<store::Source> sources = record.rows<store::Source>();
  std::map<int, PowerCurve> curves;
  for (const store::Source& source : sources)
    if (source.quantity == store::Quantity::energy || source.quantity == store::Quantity::power)
      curves.emplace(source.source, PowerCurve(source, timeline));
  record.each<store::Reading>([&](const store::Reading& reading) {
    const auto curve = curves.find(reading.source);
    if (curve != curves.end()) curve->second.add(reading);
  });
}

}  // namespace

void write_timeline(const store::Reader& record, const std::filesystem::path& file) {
  Timeline timeline(file);
  record.each<store::Phase>([&](const store::Phase& phase) {
    std::string what = phase.name;
    std::ranges::replace(what, '_', ' ');
    timeline.span(phase.rank, Timeline::Lane::device, what, phase.begin, phase.end);
  });
  write_power(record, timeline);
  record.each<store::Note>(
      [&](const store::Note& note) { timeline.word(note.text, note.seconds); });
  timeline.finish();
}

}  // namespace parajoule::cli
