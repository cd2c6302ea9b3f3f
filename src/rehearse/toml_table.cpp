#include "rehearse/toml_table.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "base/toml.h"

namespace parajoule::rehearse {

struct TomlTable::Node {
  std::shared_ptr<const toml::table> file;  ///< what `table` is a part of
  const toml::table* table;
  std::string path;
  std::string name;  ///< "link.node.", before a key
  std::vector<std::string> asked = {};

  [[noreturn]] void wrong(const toml::node* at, std::string_view key,
                          const std::string& what) const {
    const auto line = at ? at->source().begin.line : table->source().begin.line;
    throw base::Error(base::Fault::input, fmt::format("{}:{}: {}{}: {}", base::escaped(path), line,
                                                      name, base::shown(key), what));
  }
  const toml::node* find(std::string_view key) {
    asked.emplace_back(key);
    return table->get(key);
  }
  const toml::node& need(std::string_view key) {
    if (const toml::node* found = find(key)) return *found;
    wrong(nullptr, key, "is missing");
  }
  std::int64_t whole_in(const toml::node& node, std::string_view key, std::int64_t least) const {
    if (const auto value = node.value_exact<std::int64_t>(); value && *value >= least)
      return *value;
    wrong(&node, key, fmt::format("must be a whole number of at least {}", least));
  }
  double number_in(const toml::node& node, std::string_view key, double least) const {
    if (const auto value = node.value<double>();
        value && node.is_number() && std::isfinite(*value) && *value >= least)
      return *value;
    wrong(&node, key, fmt::format("must be a number of at least {}", least));
  }
};

TomlTable::TomlTable(std::unique_ptr<Node> node) : node_(std::move(node)) {}
TomlTable::TomlTable(TomlTable&&) noexcept = default;
TomlTable::~TomlTable() = default;

TomlTable TomlTable::of_file(const std::string& path) {
  if (std::error_code error; std::filesystem::is_directory(path, error))
    throw base::Error(base::Fault::input,
                      fmt::format("{}: a folder, not a file", base::escaped(path)));
  // A pipe is read to its end, as any file: whoever writes `<(...)` means it.
  if (std::error_code error; std::filesystem::is_character_file(path, error))
    throw base::Error(base::Fault::input, fmt::format("{}: not a plain file", base::escaped(path)));
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file)
    throw base::Error(base::Fault::input, fmt::format("{}: cannot be read", base::escaped(path)));
  return of_text(text.str(), path);
}

TomlTable TomlTable::of_text(const std::string& text, const std::string& path) {
  auto file = std::make_shared<const toml::table>(base::toml_in(text, path, base::Fault::input));
  const toml::table* const all = file.get();
  TomlTable table(std::make_unique<Node>(Node{std::move(file), all, path, ""}));
  if (table.whole("version", 1) != 1)
    table.node_->wrong(all->get("version"), "version", "this program reads version 1");
  return table;
}

std::string TomlTable::word(std::string_view key) {
  const toml::node& node = node_->need(key);
  if (const auto value = node.value_exact<std::string>()) return *value;
  node_->wrong(&node, key, "must be text in quotes");
}

double TomlTable::number(std::string_view key, double least, double most) {
  const double value = node_->number_in(node_->need(key), key, least);
  if (value > most) refuse(key, fmt::format("must be a number of at most {}", most));
  return value;
}

std::optional<double> TomlTable::number_if_given(std::string_view key, double least) {
  const toml::node* const node = node_->find(key);
  if (!node) return {};
  return node_->number_in(*node, key, least);
}

std::int64_t TomlTable::whole(std::string_view key, std::int64_t least) {
  return node_->whole_in(node_->need(key), key, least);
}

std::int64_t TomlTable::whole_or(std::string_view key, std::int64_t least, std::int64_t fallback) {
  const toml::node* const node = node_->find(key);
  return node ? node_->whole_in(*node, key, least) : fallback;
}

bool TomlTable::flag_or(std::string_view key, bool fallback) {
  const toml::node* const node = node_->find(key);
  if (!node) return fallback;
  if (const auto value = node->value_exact<bool>()) return *value;
  node_->wrong(node, key, "must be true or false");
}

int TomlTable::count(std::string_view key, std::optional<int> fallback) {
  constexpr std::int64_t most = 1'000'000;
  const std::int64_t value = fallback ? whole_or(key, 1, *fallback) : whole(key, 1);
  if (value > most) refuse(key, fmt::format("must be a whole number of at most {}", most));
  return int(value);
}

std::vector<std::int64_t> TomlTable::wholes(std::string_view key) {
  const toml::node& node = node_->need(key);
  if (!node.is_array()) node_->wrong(&node, key, "must be a list of whole numbers");
  std::vector<std::int64_t> wholes;
  for (const toml::node& entry : *node.as_array()) wholes.push_back(node_->whole_in(entry, key, 1));
  return wholes;
}

TomlTable TomlTable::table(std::string_view key) {
  const toml::node& node = node_->need(key);
  if (!node.is_table()) node_->wrong(&node, key, "must be a table");
  return TomlTable(std::make_unique<Node>(
      Node{node_->file, node.as_table(), node_->path, fmt::format("{}{}.", node_->name, key)}));
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) {
  const toml::node& node = node_->need(key);
  if (!node.is_array() || node.as_array()->empty())
    node_->wrong(&node, key, "must be a list of tables");
  std::vector<TomlTable> tables;
  for (const toml::node& entry : *node.as_array()) {
    if (!entry.is_table()) node_->wrong(&entry, key, "must be a list of tables");
    tables.push_back(TomlTable(
        std::make_unique<Node>(Node{node_->file, entry.as_table(), node_->path,
                                    fmt::format("{}{}[{}].", node_->name, key, tables.size())})));
  }
  return tables;
}

std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : *node_->table) keys.emplace_back(key.str());
  return keys;
}

void TomlTable::refuse(std::string_view key, const std::string& why) const {
  node_->wrong(node_->table->get(key), key, why);
}

void TomlTable::finish() const {
  const std::vector<std::string_view> known(node_->asked.begin(), node_->asked.end());
  allow_only(known);
}

void TomlTable::allow_only(std::span<const std::string_view> known) const {
  for (const auto& [key, value] : *node_->table)
    if (std::ranges::find(known, key.str()) == known.end())
      node_->wrong(&value, key.str(), "is not known" + base::hint(key.str(), known));
}

}  // namespace parajoule::rehearse
