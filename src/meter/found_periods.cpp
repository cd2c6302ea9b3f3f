#include "meter/found_periods.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "meter/redescribed.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Seconds;
using nlohmann::json;

namespace {

constexpr const char* format = "parajoule update periods";
constexpr Seconds longest{3600};

std::optional<FoundPeriod> period_of(const json& object) {
  if (!object.is_object()) return {};
  const auto covers = object.find("covers"), seconds = object.find("seconds"),
             seen = object.find("seen_utc");
  if (covers == object.end() || !covers->is_string() || seconds == object.end() ||
      !seconds->is_number() || seen == object.end() || !seen->is_string())
    return {};
  const Seconds period(seconds->get<double>());
  if (!(period > Seconds(0) && period < longest)) return {};
  return FoundPeriod{covers->get<std::string>(), period, seen->get<std::string>()};
}

}  // namespace

std::vector<FoundPeriod> found_periods(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::stringstream text;
  text << in.rdbuf();
  const json all = json::parse(text.str(), nullptr, false);
  if (!all.is_object() || !all.contains("format") || all["format"] != format ||
      !all.contains("periods") || !all["periods"].is_array())
    return {};
  std::vector<FoundPeriod> periods;
  for (const json& object : all["periods"])
    if (auto period = period_of(object)) periods.push_back(std::move(*period));
  return periods;
}

void keep_found_periods(const fs::path& file, std::span<const FoundPeriod> periods) {
  json list = json::array();
  for (const FoundPeriod& one : periods)
    list.push_back(
        {{"covers", one.covers}, {"seconds", one.period.count()}, {"seen_utc", one.seen_utc}});
  const json all = {{"format", format}, {"version", 1}, {"periods", std::move(list)}};
  std::error_code failed;
  fs::create_directories(file.parent_path(), failed);
  fs::path draft = file;
  draft += fmt::format(".{}", ::getpid());
  errno = 0;
  {
    std::ofstream out(draft, std::ios::binary | std::ios::trunc);
    out << all.dump(1, ' ', false, json::error_handler_t::replace) << '\n';
    out.close();
    if (out) {
      fs::rename(draft, file, failed);
      if (!failed) return;
    }
  }
  const std::string why = failed ? failed.message() : std::strerror(errno);
  ::unlink(draft.c_str());
  throw base::Error(base::Fault::environment,
                    fmt::format("cannot write '{}': {}", file.string(), why));
}

std::vector<TakenPeriod> take_periods(std::vector<std::unique_ptr<Source>>& sources,
                                      std::span<const FoundPeriod> found) {
  std::vector<TakenPeriod> taken;
  for (std::size_t place = 0; place < sources.size(); ++place) {
    const Description& is = sources[place]->description();
    const auto known = std::ranges::find(found, is.covers, &FoundPeriod::covers);
    if (known == found.end() || is.update_period.value_or(Seconds(0)) >= known->period) continue;
    Description described = is;
    described.update_period = known->period;
    sources[place] = std::make_unique<Redescribed>(std::move(sources[place]), std::move(described));
    taken.push_back({place, known->period, known->seen_utc});
  }
  return taken;
}

}  // namespace parajoule::meter
