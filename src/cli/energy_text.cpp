#include "cli/energy_text.h"

#include <sstream>

namespace parajoule::cli {
namespace {

using Align = Table::Align;

std::string place_in_total(const meter::SourceAccount& source) {
  if (source.counts || !source.energy) return "";
  if (meter::is_whole(source.description.device_kind)) return "a total of its own";
  if (source.description.device_kind == "sensor") return "not added: what holds it is not known";
  return source.description.part_of
             ? fmt::format("within {}, not added again", *source.description.part_of)
             : "not added: another source has it";
}

std::vector<std::string> below(const meter::SourceAccount& source) {
  std::vector<std::string> lines = {fmt::format("covers {}", source.description.covers)};
  if (source.description.label != meter::Label::measured && source.description.formula)
    lines.push_back(fmt::format("formula {}", *source.description.formula));
  lines.insert(lines.end(), source.remarks.begin(), source.remarks.end());
  return lines;
}

}  // namespace

std::string section(std::string_view title, const std::string& body, Look look) {
  if (body.empty()) return {};
  constexpr std::size_t columns = 78;
  return fmt::format("\n{}{}", rule_text(title, columns, look), body);
}

std::string indented(std::string_view text, std::size_t by) {
  std::string result;
  for (const std::string& line : wrapped(shown(text), most_columns - by)) {
    if (!result.empty()) result += std::string(by, ' ');
    result += line;
    result += '\n';
  }
  return result;
}

std::string energy_text(base::Joules energy, const meter::Uncertainty& uncertainty) {
  return fmt::format("{} Wh", rounded(energy.value / 3600, uncertainty.whole().value / 3600));
}

std::string sources_text(const StretchAccount& account, Look look) {
  Table table({{}, {}, {.align = Align::right}, {.align = Align::right}, {}});
  std::vector<const meter::SourceAccount*> sources;
  for (std::size_t node = 0; node < account.nodes.size(); ++node)
    for (const meter::SourceAccount& source : account.nodes[node].sources) {
      if (!energetic(source.description)) continue;
      const std::string place = account.nodes.size() > 1
                                    ? fmt::format("node {} {}", node, source.description.device)
                                    : source.description.device;
      table.add({place, std::string(meter::name_of(source.description.label)),
                 source.energy ? energy_text(*source.energy, source.uncertainty) : "no number",
                 source.mean_power ? fmt::format("{:.1f} W", source.mean_power->value) : "",
                 place_in_total(source)});
      sources.push_back(&source);
    }
  std::istringstream rows(table.text(look));
  std::string text;
  std::string row;
  for (std::size_t i = 0; std::getline(rows, row); ++i) {
    text += row;
    text += '\n';
    for (const std::string& line : below(*sources[i]))
      text += indented(fmt::format("    {}", line), 6);
  }
  return text;
}

std::string wholes_text(const StretchAccount& account, Look look) {
  Table table({{}, {.align = Align::right}, {.most = 60}});
  std::string remarks;
  for (std::size_t number = 0; number < account.nodes.size(); ++number) {
    const meter::NodeAccount& node = account.nodes[number];
    for (const meter::Whole& whole : node.wholes) {
      const meter::SourceAccount& source = node.sources[whole.source];
      const std::string& covers = source.description.covers;
      const std::string place = account.nodes.size() > 1
                                    ? fmt::format("node {} {}", number, source.description.device)
                                    : source.description.device;
      table.add({place, energy_text(*source.energy, source.uncertainty),
                 covers.substr(0, covers.find(';'))});
      if (whole.remainder)
        table.add({"  remainder", energy_text(*whole.remainder, whole.uncertainty),
                   "what it has over the measured parts"});
      for (const std::string& remark : whole.remarks)
        remarks += indented(fmt::format("{}: {}", place, remark));
    }
  }
  return table.text(look) + remarks;
}

std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& each : lines) text += indented(each);
  return text;
}

std::string study_text(const std::optional<meter::StudyAccount>& study, Look look) {
  if (!study) return {};
  Table table({{}, {.align = Align::right}});
  table.add({"run time", spoken(study->run_time)});
  table.add({"device hours", rounded(study->device_hours)});
  table.add({"samples per device hour", rounded(study->samples_per_device_hour)});
  table.add({"passes per device hour", rounded(study->passes_per_device_hour)});
  const auto add = [&](const std::optional<meter::StudyIntensity>& of, std::string_view label) {
    if (!of) return;
    table.add({fmt::format("kWh {}", label), rounded(of->kilowatt_hours)});
    table.add({fmt::format("kWh per device hour {}", label),
               rounded(of->kilowatt_hours_per_device_hour)});
    if (of->watt_hours_per_1000_samples)
      table.add({fmt::format("Wh per 1000 samples {}", label),
                 rounded(*of->watt_hours_per_1000_samples)});
  };
  add(study->measured, "measured");
  add(study->modelled, "modelled");
  return table.text(look);
}

}  // namespace parajoule::cli
