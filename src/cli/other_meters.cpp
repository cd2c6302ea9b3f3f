#include "cli/other_meters.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "base/toml.h"
#include "store/process.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;

std::string own_host() {
  const std::string whole = store::host_name();
  return whole.substr(0, whole.find('.'));
}

std::string on_host(std::string text, std::string_view host) {
  constexpr std::string_view place = "{host}";
  for (std::size_t at = text.find(place); at != text.npos; at = text.find(place, at + host.size()))
    text.replace(at, place.size(), host);
  return text;
}

/// One table of the file: takes its keys, and refuses what nobody took.
class Keys {
 public:
  Keys(const toml::table& table, std::string name, const fs::path& file, std::string_view host)
      : table_(table), name_(std::move(name)), file_(file), host_(host) {}

  std::string text(std::string_view key, bool needed = false) {
    const auto* node = find(key, needed);
    if (!node) return {};
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) throw wrong(*node, fmt::format("{} is no text", named(key)));
    return on_host(*value, host_);
  }

  std::optional<double> number(std::string_view key) {
    const auto* node = find(key, false);
    if (!node) return {};
    const auto value = node->is_boolean() ? std::nullopt : node->value<double>();
    if (!value || !(*value > 0)) throw wrong(*node, fmt::format("{} is not above 0", named(key)));
    return value;
  }

  fs::path file(std::string_view key) { return file_.parent_path() / text(key, true); }

  void refuse_others() const {
    for (const auto& [key, node] : table_)
      if (std::ranges::find(known_, key.str()) == known_.end())
        throw wrong(node,
                    fmt::format("no key {}{}", named(key.str()), base::hint(key.str(), known_)));
  }

 private:
  const toml::node* find(std::string_view key, bool needed) {
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    if (!node && needed) throw wrong(table_, fmt::format("{} is missing", named(key)));
    return node;
  }

  std::string named(std::string_view key) const { return fmt::format("'{}.{}'", name_, key); }

  base::Error wrong(const toml::node& node, std::string_view why) const {
    return {base::Fault::input,
            fmt::format("{}:{}: {}", file_.string(), node.source().begin.line, why)};
  }

  const toml::table& table_;
  const std::string name_;
  const fs::path& file_;
  const std::string_view host_;
  std::vector<std::string_view> known_;
};

meter::Options::Outlet outlet_of(Keys& keys) {
  meter::Options::Outlet outlet{.name = keys.text("name", true),
                                .address = keys.text("address", true),
                                .credentials = keys.file("credentials"),
                                .power = keys.text("power"),
                                .energy = keys.text("energy")};
  outlet.power_unit = keys.number("power_unit_watts").value_or(outlet.power_unit);
  outlet.energy_unit = keys.number("energy_unit_joules").value_or(outlet.energy_unit);
  if (const auto percent = keys.number("accuracy_percent")) outlet.accuracy = *percent / 100;
  const double feeds = keys.number("feeds").value_or(1);
  outlet.feeds = int(std::clamp(feeds, 1.0, 1e6));
  return outlet;
}

using Take = void (*)(Keys&, NamedMeters&);
constexpr std::pair<std::string_view, Take> kinds[] = {
    {"redfish",
     [](Keys& keys, NamedMeters& meters) {
       meters.sources.redfish = meter::Options::Redfish{.address = keys.text("address", true),
                                                        .credentials = keys.file("credentials")};
     }},
    {"outlet",
     [](Keys& keys, NamedMeters& meters) { meters.sources.outlets.push_back(outlet_of(keys)); }},
    {"wall", [](Keys& keys, NamedMeters& meters) { meters.wall.push_back(keys.file("file")); }}};

std::string text_of(const fs::path& file) {
  constexpr std::size_t most = 1 << 20;
  try {
    return base::plain_text(file, most);
  } catch (const base::Error& error) {
    throw base::Error(error.fault, fmt::format("the file of meters: {}", error.what()));
  }
}

}  // namespace

void add_other_meters(CLI::App& app, OtherMeters& meters, WallFiles wall) {
  app.add_option("--meters", meters.file,
                 "names meters outside of the machine (default: PARAJOULE_METERS)")
      ->type_name("FILE");
  app.add_option("--redfish", meters.redfish, "the management controller of this node")
      ->type_name("ADDRESS");
  app.add_option("--credentials", meters.credentials, "for that: its user, in a file of mode 0600")
      ->type_name("FILE");
  if (wall == WallFiles::taken)
    app.add_option("--wall", meters.wall, "a wall meter's own file, joined by time at the end")
        ->type_name("FILE")
        ->expected(1)
        ->take_all();
}

NamedMeters meters_in(std::string_view text, const fs::path& file, std::string_view host) {
  const toml::table all = base::toml_in(text, file.string(), base::Fault::input);
  const auto wrong = [&](const toml::node& node, const std::string& why) {
    return base::Error(base::Fault::input,
                       fmt::format("{}:{}: {}", file.string(), node.source().begin.line, why));
  };
  NamedMeters meters;
  for (const auto& [key, node] : all) {
    if (key.str() == "version") {
      if (node.value_exact<std::int64_t>() != 1) throw wrong(node, "the version is not 1");
      continue;
    }
    const auto kind = std::ranges::find(kinds, key.str(), [](const auto& k) { return k.first; });
    if (kind == std::end(kinds))
      throw wrong(node, fmt::format("'{}' is none of [redfish], [[outlet]], [[wall]]",
                                    base::shown(key.str())));
    const auto take = [&](const toml::node& one) {
      if (!one.is_table()) throw wrong(one, fmt::format("'{}' is no table", key.str()));
      Keys keys(*one.as_table(), kind->first.data(), file, host);
      kind->second(keys, meters);
      keys.refuse_others();
    };
    if (const auto* list = node.as_array())
      for (const toml::node& one : *list) take(one);
    else
      take(node);
  }
  return meters;
}

NamedMeters named_meters(const OtherMeters& meters) {
  const std::string host = own_host();
  const std::string file =
      meters.file.empty() ? base::environment("PARAJOULE_METERS").value_or("") : meters.file;
  NamedMeters named;
  if (!file.empty()) named = meters_in(text_of(file), file, host);
  if (meters.redfish.empty() != meters.credentials.empty())
    throw base::Error(base::Fault::usage, "--redfish and --credentials go together");
  if (!meters.redfish.empty())
    named.sources.redfish = meter::Options::Redfish{
        .address = on_host(meters.redfish, host), .credentials = on_host(meters.credentials, host)};
  for (const std::string& wall : meters.wall) named.wall.emplace_back(on_host(wall, host));
  named.sources.periods = periods_file();
  return named;
}

fs::path periods_file() {
  fs::path folder = base::environment("XDG_CACHE_HOME").value_or("");
  if (!folder.is_absolute()) folder = fs::path(base::environment("HOME").value_or("")) / ".cache";
  if (!folder.is_absolute()) return {};
  return folder / "parajoule" / fmt::format("periods-{}.json", own_host());
}

}  // namespace parajoule::cli
