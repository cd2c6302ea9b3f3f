#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/doctor.h"

namespace parajoule::cli {

using nlohmann::ordered_json;
using State = Finding::State;

namespace {

constexpr std::size_t indent = 15;  ///< past the longest state

std::string set_in(std::string_view text, std::size_t columns, std::string_view sign) {
  const std::size_t by = indent + columns_of(sign);
  std::string lines;
  for (const std::string& line : wrapped(shown(text), columns - by)) {
    lines += lines.empty() ? std::string(indent, ' ').append(sign) : std::string(by, ' ');
    lines += line + "\n";
  }
  return lines;
}

std::string text_of(const Finding& finding, std::size_t columns) {
  std::string text = fmt::format("{:<{}}", name_of(finding.state), indent);
  text += set_in(fmt::format("{}: {}", finding.about, finding.what), columns, "").substr(indent);
  if (!finding.remedy.empty()) text += set_in(finding.remedy, columns, "→ ");
  return text;
}

std::ptrdiff_t count(const Findings& findings, State state) {
  return std::ranges::count(findings, state, &Finding::state);
}

std::string dumped(const ordered_json& json) {
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::ok:
      return "ok";
    case State::worth_knowing:
      return "worth knowing";
    case State::wrong:
      break;
  }
  return "wrong";
}

std::string doctor_text(const Findings& findings, std::size_t columns, Look look) {
  std::string text;
  for (const Finding& finding : findings) text += text_of(finding, columns);
  text += rule_text("", columns, look);
  text += fmt::format("{} ok, {} worth knowing, {} wrong\n", count(findings, State::ok),
                      count(findings, State::worth_knowing), count(findings, State::wrong));
  return text;
}

std::string doctor_json(const Findings& findings) {
  ordered_json all = ordered_json::array();
  for (const Finding& finding : findings)
    all.push_back({{"state", name_of(finding.state)},
                   {"about", finding.about},
                   {"what", finding.what},
                   {"remedy", finding.remedy}});
  return dumped({{"format", "parajoule doctor"},
                 {"version", 1},
                 {"ok", count(findings, State::ok)},
                 {"worth_knowing", count(findings, State::worth_knowing)},
                 {"wrong", count(findings, State::wrong)},
                 {"findings", std::move(all)}});
}

std::string admin_text(const std::vector<AdminLine>& lines) {
  constexpr std::size_t columns = 98;
  std::string text =
      "# What an administrator runs once to open this machine's meters. Nothing was changed. "
      "Lines\n"
      "# that this machine or this user does not need now are commented out.\n";
  for (const AdminLine& each : lines) {
    text += "\n";
    for (const std::string& line : wrapped(shown("Opens " + each.opens) + ".", columns))
      text += "# " + line + "\n";
    text += fmt::format("{}{}\n", each.needed ? "" : "#   ", each.line);
  }
  return text;
}

std::string admin_json(const std::vector<AdminLine>& lines) {
  ordered_json all = ordered_json::array();
  for (const AdminLine& each : lines)
    all.push_back({{"opens", each.opens}, {"line", each.line}, {"needed", each.needed}});
  return dumped(
      {{"format", "parajoule doctor --admin"}, {"version", 1}, {"lines", std::move(all)}});
}

}  // namespace parajoule::cli
