#include "meter/wall.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/counter.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

/// 95 % bounds: plug-in meters state 1 % and 2 %; of what is divided equally the share is anybody's
/// guess. Both assumed.
constexpr double usual_bias = 0.02;
constexpr double bias_of_a_share = 0.3;

constexpr Watts most{100'000};
constexpr double joules_in_a_kilowatt_hour = 3.6e6;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\"";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || !std::isfinite(number))
    return {};
  return number;
}

/// Takes a number of exactly `digits` digits from the front.
std::optional<int> take(std::string_view& text, std::size_t digits) {
  int number = 0;
  if (text.size() < digits) return {};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (error != std::errc() || rest != text.data() + digits || number < 0) return {};
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, std::string_view any) {
  if (text.empty() || any.find(text[0]) == any.npos) return false;
  text.remove_prefix(1);
  return true;
}

/// Seconds east of Greenwich: `Z`, `UTC`, `+01:00`, `-0530`, `+01`.
std::optional<double> zone_of(std::string_view text) {
  if (text == "Z" || text == "z" || text == "UTC") return 0;
  const bool east = text.starts_with('+');
  if (!take(text, "+-")) return {};
  const auto hours = take(text, 2);
  if (!hours || *hours > 14) return {};
  take(text, ":");
  const auto minutes = text.empty() ? std::optional(0) : take(text, 2);
  if (!minutes || *minutes > 59 || !text.empty()) return {};
  return (east ? 1 : -1) * (*hours * 3600.0 + *minutes * 60.0);
}

/// `2025-11-30 10:11:12.5`, as if its clock showed UTC, and what follows it.
std::optional<double> calendar_of(std::string_view& text) {
  std::tm moment{};
  const auto year = take(text, 4);
  if (!year || !take(text, "-")) return {};
  const auto month = take(text, 2);
  if (!month || *month < 1 || *month > 12 || !take(text, "-")) return {};
  const auto day = take(text, 2);
  if (!day || *day < 1 || *day > 31 || !take(text, "T ")) return {};
  const auto hour = take(text, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return {};
  const auto minute = take(text, 2);
  if (!minute || *minute > 59 || !take(text, ":")) return {};
  const std::size_t end = text.find_first_not_of("0123456789.");
  const auto seconds = number_of(text.substr(0, end));
  if (!seconds || *seconds >= 61) return {};
  text.remove_prefix(std::min(end, text.size()));
  moment.tm_year = *year - 1900;
  moment.tm_mon = *month - 1;
  moment.tm_mday = *day;
  moment.tm_hour = *hour;
  moment.tm_min = *minute;
  return double(timegm(&moment)) + *seconds;
}

/// What lines that begin with # say.
struct Stated {
  std::optional<double> zone = {};
  double ahead = 0;
  std::string outlet = "";
  double accuracy = usual_bias;
  int feeds = 1;
};

class Parser {
 public:
  Parser(std::string name, double start, Span wanted)
      : name_(std::move(name)), start_(start), wanted_(wanted) {}

  void line(std::string_view text) {
    ++number_;
    if (number_ == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (trimmed(text).empty()) return;
    if (trimmed(text).starts_with('#')) return state(trimmed(text).substr(1));
    columns_.empty() ? head(text) : row(text);
  }

  Wall result() {
    if (columns_.empty()) throw wrong("has no line that names its columns");
    Wall wall;
    for (auto& [key, rows] : rows_) wall.series.push_back(series_of(key, std::move(rows)));
    if (passed_over_ > 0)
      wall.remarks.push_back(fmt::format("{}: {} lines have no time; line {} is the first", name_,
                                         passed_over_, first_passed_over_));
    if (wall.series.empty())
      wall.remarks.push_back(first_
                                 ? fmt::format("{}: nothing of the run's time: its rows lie {:.0f} "
                                               "to {:.0f} s after the start",
                                               name_, first_->count(), last_->count())
                                 : fmt::format("{}: has no rows", name_));
    return wall;
  }

 private:
  struct Key {
    std::string outlet;
    std::size_t column;
    auto operator<=>(const Key&) const = default;
  };
  struct Taken {
    Seconds at;
    std::optional<double> value;
  };

  base::Error wrong(std::string_view why) const {
    return {base::Fault::input, fmt::format("{}, line {}: {}", name_, number_, why)};
  }

  void state(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return;
    const std::string_view key = trimmed(text.substr(0, colon));
    std::string_view value = trimmed(text.substr(colon + 1));
    if (key == "outlet") stated_.outlet = value;
    if (key == "zone" && !(stated_.zone = zone_of(value)))
      throw wrong("no time zone such as UTC or +01:00");
    if (key != "clock" && key != "accuracy" && key != "feeds") return;
    while (!value.empty() && (value.ends_with('s') || value.ends_with('%') || value.ends_with(' ')))
      value.remove_suffix(1);
    if (value.starts_with('+')) value.remove_prefix(1);
    const auto number = number_of(value);
    const bool fits = number && (key == "clock" || *number > 0) &&
                      (key != "feeds" || (*number == std::floor(*number) && *number < 1e6));
    if (!fits) throw wrong(fmt::format("'{}' is no number for {}", value, key));
    if (key == "clock") stated_.ahead = *number;
    if (key == "accuracy") stated_.accuracy = *number / 100;
    if (key == "feeds") stated_.feeds = int(*number);
  }

  std::vector<std::string_view> cells(std::string_view text) const {
    std::vector<std::string_view> parts;
    while (true) {
      const std::size_t end = std::min(text.find(separator_), text.size());
      parts.push_back(trimmed(text.substr(0, end)));
      if (end == text.size()) return parts;
      text.remove_prefix(end + 1);
    }
  }

  void head(std::string_view text) {
    for (char sign : {';', '\t', ','})
      if (text.find(sign) != text.npos) {
        separator_ = sign;
        break;
      }
    for (std::string_view cell : cells(text)) columns_.emplace_back(cell);
    const auto place = [&](std::string_view name) {
      const auto found = std::ranges::find(columns_, name);
      return found == columns_.end() ? std::optional<std::size_t>()
                                     : std::size_t(found - columns_.begin());
    };
    time_ = place("time");
    outlet_ = place("outlet");
    for (const char* name : {"watts", "joules", "kilowatt_hours"})
      if (const auto column = place(name)) numbers_.push_back(*column);
    if (!time_ || numbers_.empty())
      throw wrong("has to name a column 'time' and one of 'watts', 'joules', 'kilowatt_hours'");
  }

  std::optional<double> time_in(std::string_view text) const {
    if (const auto seconds = number_of(text)) return *seconds - stated_.ahead;
    const auto shown = calendar_of(text);
    if (!shown) return {};
    const auto zone = trimmed(text).empty() ? stated_.zone : zone_of(trimmed(text));
    if (!zone && trimmed(text).empty())
      throw wrong("a time without its zone: put a line '# zone: +01:00' in front");
    if (!zone) return {};
    return *shown - *zone - stated_.ahead;
  }

  void row(std::string_view text) {
    const std::vector<std::string_view> all = cells(text);
    const auto time = *time_ < all.size() ? time_in(all[*time_]) : std::nullopt;
    if (!time) {
      if (passed_over_++ == 0) first_passed_over_ = number_;
      return;
    }
    const Seconds at(*time - start_);
    first_ = std::min(first_.value_or(at), at);
    last_ = std::max(last_.value_or(at), at);
    if (at < wanted_.begin || at > wanted_.end) return;
    const std::string outlet(outlet_ && *outlet_ < all.size() ? all[*outlet_] : "");
    for (std::size_t column : numbers_)
      rows_[{outlet, column}].push_back(
          {at, column < all.size() ? number_of(all[column]) : std::nullopt});
  }

  Description described(const Key& key) const {
    const bool counts = columns_[key.column] != "watts";
    std::string outlet = key.outlet.empty() ? stated_.outlet : key.outlet;
    if (outlet.empty()) outlet = "of the wall meter";
    Description description{
        .device = fmt::format("outlet {}", outlet),
        .device_kind = "outlet",
        .quantity = counts ? Quantity::energy : Quantity::power,
        .unit = counts ? "joules" : "watts",
        .label = Label::measured,
        .covers = fmt::format("outlet {}, column {} of the wall meter's file {}, joined by its "
                              "clock{}",
                              outlet, columns_[key.column], name_, clock()),
        .bias_relative = stated_.accuracy};
    if (stated_.feeds == 1) return description;
    description.label = Label::modelled;
    description.formula =
        fmt::format("what the outlet gives, divided by {}: it feeds as many nodes, in equal parts",
                    stated_.feeds);
    description.bias_relative = std::hypot(stated_.accuracy, bias_of_a_share);
    return description;
  }

  std::string clock() const {
    return stated_.ahead == 0 ? "" : fmt::format(", which is {} s ahead", stated_.ahead);
  }

  Series series_of(const Key& key, std::vector<Taken> taken) const {
    std::ranges::stable_sort(taken, {}, &Taken::at);
    Series series{.description = described(key), .rows = {}};
    const bool counts = series.description.quantity == Quantity::energy;
    const double unit = columns_[key.column] == "kilowatt_hours" ? joules_in_a_kilowatt_hour : 1;
    Counter counter({.range = {}, .most = most, .slack = Seconds(60)});
    for (const Taken& one : taken) {
      if (!series.rows.empty() && one.at == series.rows.back().at) continue;
      Reading reading = Gap{Gap::Cause::failed, "the file has no number"};
      if (one.value && counts)
        reading = counter.update(Joules{*one.value * unit}, one.at);
      else if (one.value && *one.value >= 0 && *one.value < most.value)
        reading = *one.value;
      else if (one.value)
        reading = Gap{Gap::Cause::implausible, fmt::format("{} W", *one.value)};
      if (double* value = std::get_if<double>(&reading)) *value /= stated_.feeds;
      series.rows.push_back({0, one.at, std::move(reading)});
    }
    return series;
  }

  const std::string name_;
  const double start_;
  const Span wanted_;
  std::size_t number_ = 0;
  Stated stated_;
  char separator_ = ',';
  std::vector<std::string> columns_;
  std::optional<std::size_t> time_;
  std::optional<std::size_t> outlet_;
  std::vector<std::size_t> numbers_;
  std::map<Key, std::vector<Taken>> rows_;
  std::size_t passed_over_ = 0;
  std::size_t first_passed_over_ = 0;
  std::optional<Seconds> first_;
  std::optional<Seconds> last_;
};

}  // namespace

Wall wall_in(std::istream& text, const std::string& name, double start, Span wanted) {
  Parser parser(name, start, wanted);
  // A line that does not end may be half of one.
  for (std::string line; std::getline(text, line) && !text.eof();) parser.line(line);
  return parser.result();
}

Wall wall_of(const fs::path& file, double start, Span wanted) {
  constexpr std::uintmax_t largest = std::uintmax_t(4) << 30;
  std::error_code failed;
  if (!fs::is_regular_file(file, failed))
    throw base::Error(
        base::Fault::input,
        fmt::format("'{}': {}", file.string(), failed ? failed.message() : "is no plain file"));
  if (fs::file_size(file, failed) > largest)
    throw base::Error(base::Fault::input,
                      fmt::format("'{}': holds more than {} bytes", file.string(), largest));
  std::ifstream text(file, std::ios::binary);
  if (!text)
    throw base::Error(base::Fault::input, fmt::format("'{}': cannot be read", file.string()));
  return wall_in(text, file.filename().string(), start, wanted);
}

}  // namespace parajoule::meter
