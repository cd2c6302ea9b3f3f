#include "rehearse/timeline.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::rehearse {
namespace {

int lane_of(simulate::Span::Lane lane) { return lane == simulate::Span::Lane::device ? 0 : 1; }

base::Error unwritten(const std::string& path) {
  return {base::Fault::environment,
          fmt::format("--timeline {}: cannot be written: {}", path, std::strerror(errno))};
}

}  // namespace

Timeline::Timeline(const std::string& path) : path_(path), file_(path) {
  if (!file_) throw unwritten(path);
  file_ << "[";
}

void Timeline::name_lanes(int rank) {
  if (named_.size() <= std::size_t(rank)) named_.resize(std::size_t(rank) + 1);
  if (named_[std::size_t(rank)]) return;
  named_[std::size_t(rank)] = true;
  file_ << (first_ ? "\n" : ",\n")
        << fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}"}}}})",
                       rank, rank);
  first_ = false;
  for (int lane : {0, 1})
    file_ << fmt::format(
        ",\n"
        R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
        rank, lane, lane == 0 ? "device" : "link");
}

void Timeline::add(const simulate::Span& span) {
  name_lanes(span.rank);
  constexpr double microseconds = 1e6;
  file_ << fmt::format(
      ",\n"
      R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}}})",
      span.what, span.rank, lane_of(span.lane), span.begin.count() * microseconds,
      (span.end - span.begin).count() * microseconds);
}

void Timeline::finish() {
  file_ << "\n]\n";
  file_.close();
  if (!file_) throw unwritten(path_);
}

}  // namespace parajoule::rehearse
