#include "cli/sensors_text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "meter/source.h"

namespace parajoule::cli {
namespace {

using Align = Table::Align;
using meter::Quantity;
using meter::Unavailable;

constexpr std::size_t columns_for_numbers = 90;  ///< from here on each number has its column
constexpr std::size_t indent = 12;               ///< past the longest state

std::string unit_sign(std::string_view unit) {
  static const std::map<std::string_view, std::string> signs = {
      {"joules", "J"}, {"watts", "W"}, {"hertz", "Hz"}, {"bytes", "B"}};
  const auto sign = signs.find(unit);
  return sign == signs.end() ? std::string(unit == "fraction" ? "" : unit) : sign->second;
}

std::string step_of(const SensedSource& source) {
  const auto& step = source.description.resolution;
  return step ? scaled(*step, unit_sign(source.description.unit)) : "";
}

std::string in_seconds(const std::optional<base::Seconds>& time) {
  return time ? scaled(time->count(), "s") : "";
}

/// A model is as new as it is asked.
std::string seen_of(const SensedSource& source) {
  const auto& observed = source.observed;
  if (!observed.update || source.description.label != meter::Label::measured) return "";
  return (observed.quicker ? "≤ " : "") + scaled(observed.update->count(), "s");
}

std::string read_of(const SensedSource& source) {
  return scaled(source.observed.cost.count(), "s");
}

/// `text` in lines below a row, set in as far as its first word.
std::string below(std::string_view text, std::size_t columns, std::string_view sign = "") {
  std::string lines;
  const std::size_t by = indent + columns_of(sign);
  for (const std::string& line : wrapped(shown(text), columns - by)) {
    lines += lines.empty() ? std::string(indent, ' ').append(sign) : std::string(by, ' ');
    lines += line + "\n";
  }
  return lines;
}

/// The numbers of a source as a sentence, for a terminal that has no room for their columns.
std::string numbers_of(const SensedSource& source) {
  std::vector<std::string> parts;
  if (const std::string step = step_of(source); !step.empty()) parts.push_back("step " + step);
  if (const auto& period = source.description.update_period)
    parts.push_back("new every " + in_seconds(period));
  if (const std::string seen = seen_of(source); !seen.empty()) parts.push_back("seen " + seen);
  if (const auto& window = source.description.window)
    parts.push_back("mean over " + in_seconds(window));
  parts.push_back("a read " + read_of(source));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// What is said once for the family need not stand behind each of its sources.
std::string covers_of(const SensedSource& source, const SensedFamily& family) {
  std::string covers = source.description.covers;
  const std::string untried = fmt::format("; {}", meter::untried);
  if (!family.met_devices && covers.ends_with(untried))
    covers.resize(covers.size() - untried.size());
  if (source.description.part_of)
    covers += fmt::format("; part of {}", *source.description.part_of);
  return covers;
}

/// The rows of all families, so that their columns stand below each other.
class Rows {
 public:
  Rows(const Sensed& sensed, bool wide, bool all) : table_(columns(wide)) {
    for (const SensedFamily& family : sensed.families)
      for (const SensedSource& source : family.sources) {
        if (!all && !meter::energetic(source.description)) continue;
        std::vector<std::string> cells = {fmt::format("{:<10}", name_of(source.state)),
                                          source.description.device,
                                          std::string(name_of(source.description.quantity)),
                                          std::string(name_of(source.description.label))};
        const std::string window = in_seconds(source.description.window);
        if (wide)
          for (const std::string& cell :
               {step_of(source), in_seconds(source.description.update_period), seen_of(source),
                window, read_of(source)})
            cells.push_back(cell);
        table_.add(cells);
      }
  }

  /// Its heading with the rule below, then a line for each row.
  std::vector<std::string> lines(Look look) const {
    std::istringstream text(table_.text(look));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

 private:
  static std::vector<Table::Column> columns(bool wide) {
    std::vector<Table::Column> columns = {{.heading = "state"},
                                          {.heading = "device", .most = 20},
                                          {.heading = "quantity"},
                                          {.heading = "label"}};
    if (wide)
      for (const char* heading : {"step", "new every", "seen", "window", "a read"})
        columns.push_back({.heading = heading, .align = Align::right});
    return columns;
  }

  Table table_;
};

std::string row_of(const Unavailable& unavailable, std::size_t columns) {
  std::string text = fmt::format("{:<{}}", state_of(unavailable), indent);
  text += below(unavailable.what, columns).substr(indent);
  std::string_view reason = unavailable.reason;
  constexpr std::string_view said = "dead: ";  // by the state
  if (reason.starts_with(said)) reason.remove_prefix(said.size());
  text += below(reason, columns);
  if (!unavailable.remedy.starts_with("none")) text += below(unavailable.remedy, columns, "→ ");
  return text;
}

/// Numbers beside the energy, a line for each device.
std::string beside(const SensedFamily& family, std::size_t columns) {
  std::map<std::string, std::vector<std::string>> found;
  for (const SensedSource& source : family.sources)
    if (!meter::energetic(source.description))
      found[source.description.device].push_back(std::string(name_of(source.description.quantity)));
  std::string text;
  for (auto& [device, quantities] : found) {
    const auto repeated = std::ranges::unique(quantities);
    quantities.erase(repeated.begin(), repeated.end());
    text += fmt::format("{:<{}}", "also", indent);
    text +=
        below(fmt::format("{}: {}", device, fmt::join(quantities, ", ")), columns).substr(indent);
  }
  return text;
}

bool has_nothing(const SensedFamily& family) {
  return family.sources.empty() && family.unavailable.empty();
}

/// Families that found nothing at all, in one breath.
std::string not_here(const Sensed& sensed, std::size_t columns, Look look) {
  std::vector<std::string> names;
  for (const SensedFamily& family : sensed.families)
    if (has_nothing(family)) names.push_back(fmt::format("{} ({})", family.name, family.reads));
  if (names.empty()) return {};
  return rule_text("nothing of these kinds is here", columns, look) +
         below(fmt::format("{}", fmt::join(names, ", ")), columns);
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}", count, what);
}

std::string last_lines(const Sensed& sensed) {
  std::map<std::string_view, std::size_t> states;
  bool measured = false;
  for (const SensedFamily& family : sensed.families) {
    for (const SensedSource& source : family.sources) {
      if (!meter::energetic(source.description)) continue;
      const bool works = source.state == SensedSource::State::works;
      const bool sensor = source.description.label == meter::Label::measured;
      measured = measured || (works && sensor);
      ++states[works && !sensor ? "modelled" : name_of(source.state)];
    }
    for (const Unavailable& unavailable : family.unavailable) ++states[state_of(unavailable)];
  }
  std::vector<std::string> parts;
  for (const char* state :
       {"works", "fails", "dead", "unreadable", "absent", "left out", "spare", "modelled"})
    if (states.contains(state)) parts.push_back(counted(states[state], state));
  std::string text =
      fmt::format("{}; watched for {:.1f} s\n", fmt::join(parts, ", "), sensed.watched.count());
  if (!measured)
    text += states.contains("modelled")
                ? "Nothing here measures energy: what is said of it will be modelled.\n"
                : "Nothing here measures energy, and nothing can be modelled: there will be no "
                  "number.\n";
  return text;
}

}  // namespace

std::string scaled(double value, std::string_view unit) {
  static constexpr std::pair<double, std::string_view> prefixes[] = {
      {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}};
  for (const auto& [factor, prefix] : prefixes) {
    const bool seconds_have_no_kilo = unit == "s" && factor > 1;
    if (std::abs(value) < 0.9995 * factor || seconds_have_no_kilo) continue;
    const double number = value / factor;
    const int digits = std::abs(number) < 9.95 ? 1 : 0;
    std::string text = fmt::format("{:.{}f}", number, digits);
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return fmt::format("{} {}{}", text, prefix, unit);
  }
  return fmt::format("{:.2g} {}", value, unit);
}

std::string sensors_text(const Sensed& sensed, std::size_t columns, Look look, bool all) {
  const bool wide = columns >= columns_for_numbers;
  const std::vector<std::string> rows = Rows(sensed, wide, all).lines(look);
  auto row = rows.begin() + 2;
  std::string text = rows.front() + "\n";
  for (const SensedFamily& family : sensed.families) {
    if (has_nothing(family)) continue;
    text += rule_text(family.name, columns, look);
    const std::string met = family.met_devices ? "" : fmt::format("; {}", meter::untried);
    text += below(fmt::format("reads {}{}", family.reads, met), columns);
    for (const SensedSource& source : family.sources) {
      if (!all && !meter::energetic(source.description)) continue;
      text += *row++ + "\n";
      text += below(covers_of(source, family), columns);
      if (!wide) text += below(numbers_of(source), columns);
      if (!source.reason.empty()) text += below(source.reason, columns);
    }
    if (!all) text += beside(family, columns);
    for (const Unavailable& unavailable : family.unavailable) text += row_of(unavailable, columns);
  }
  text += not_here(sensed, columns, look);
  text += rule_text("not metered by anything here", columns, look);
  text += below(fmt::format("{}", fmt::join(sensed.unmetered, ", ")), columns);
  text += rule_text("", columns, look);
  std::istringstream last(last_lines(sensed));
  for (std::string sentence; std::getline(last, sentence);)
    for (const std::string& line : wrapped(sentence, columns)) text += line + "\n";
  return text;
}

}  // namespace parajoule::cli
