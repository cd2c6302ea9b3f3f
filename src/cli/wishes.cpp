#include "cli/wishes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/toml.h"

namespace parajoule::cli {
namespace {

base::Error wrong(const std::string& what) { return {base::Fault::usage, what}; }

template <class T>
std::optional<base::Value> list_of(const toml::array& array) {
  std::vector<T> list;
  for (const toml::node& entry : array) {
    const auto value = entry.value<T>();
    if (!value || entry.is_boolean()) return {};
    list.push_back(*value);
  }
  return list;
}

std::optional<base::Value> value_of(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* word = node.as_string()) return word->get();
  const auto* array = node.as_array();
  if (!array) return {};
  const bool whole =
      std::ranges::all_of(*array, [](const auto& entry) { return entry.is_integer(); });
  return whole ? list_of<std::int64_t>(*array) : list_of<double>(*array);
}

/// Collects the wishes of one file.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  std::vector<Wish> read(const toml::table& file) {
    for (const auto& [key, node] : file) {
      if (const auto* table = node.as_table()) {
        read_table(std::string(key.str()), *table);
      } else {
        add("", std::string(key.str()), node);
      }
    }
    std::ranges::stable_sort(wishes_, {}, &At::line);
    std::vector<Wish> in_order;
    for (At& at : wishes_) in_order.push_back(std::move(at.wish));
    return in_order;
  }

 private:
  struct At {
    unsigned line;
    Wish wish;
  };

  void read_table(const std::string& name, const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (const auto* inner = node.as_table())
        read_table(fmt::format("{}.{}", name, key.str()), *inner);
      else
        add(name, std::string(key.str()), node);
    }
  }

  void add(const std::string& table, const std::string& key, const toml::node& node) {
    const unsigned line = node.source().begin.line;
    const std::string place = fmt::format("{}:{}", path_, line);
    const auto value = value_of(node);
    if (!value) {
      const std::string dot = table.empty() ? "" : ".";
      throw wrong(
          fmt::format("{}: {}{}{}: must be a number, a word, true or false, or a list of "
                      "numbers",
                      place, base::shown(table), dot, base::shown(key)));
    }
    wishes_.push_back({line, {.table = table, .key = key, .value = *value, .place = place}});
  }

  const std::string& path_;
  std::vector<At> wishes_;
};

/// What to write in place of `model = resnet20`, if that is what the line holds: the parser only
/// says that it finds no value.
std::optional<std::string> bare_word(std::string_view text, unsigned line) {
  std::istringstream lines{std::string(text)};
  std::string held;
  for (unsigned i = 0; i < line; ++i) std::getline(lines, held);
  static const std::regex pattern(R"(\s*([\w.]+)\s*=\s*([A-Za-z_][\w./-]*)\s*(#.*)?)");
  std::smatch parts;
  if (held.size() > 200 || !std::regex_match(held, parts, pattern)) return {};
  return fmt::format("{0} = {1}: words stand in quotes: {0} = \"{1}\"", parts.str(1), parts.str(2));
}

}  // namespace

std::vector<Wish> wishes_in(std::string_view text, const std::string& path) {
  const auto on_error = [&](unsigned line) { return bare_word(text, line); };
  return Reader(path).read(base::toml_in(text, path, base::Fault::usage, on_error));
}

std::vector<Wish> read_wishes(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw wrong(fmt::format("{}: not a plain file: every rank reads it anew", path));
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad() || !file.is_open()) {
    throw wrong(fmt::format("{}: {}; `parajoule train --example > experiment.toml` writes one",
                            path, std::strerror(errno)));
  }
  return wishes_in(text, path);
}

Assignment assignment_in(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string name = argument.substr(0, equals);
  const std::size_t dot = name.rfind('.');  // tables may lie in tables: slow.random.seed
  if (equals == argument.npos || name.empty() || dot == 0 || dot + 1 == name.size()) {
    throw wrong(fmt::format("--set {}: write --set key=value or --set table.key=value",
                            base::shown(argument)));
  }
  if (dot == name.npos) return {.table = "", .key = name, .value = argument.substr(equals + 1)};
  return {.table = name.substr(0, dot),
          .key = name.substr(dot + 1),
          .value = argument.substr(equals + 1)};
}

base::Settings settings_of(std::string_view name, std::span<const base::Option> options,
                           const std::vector<std::string>& set) {
  std::map<std::string, base::Value> given;
  for (const std::string& argument : set) {
    const Assignment said = assignment_in(argument);
    if (!said.table.empty() && said.table != name)
      throw wrong(fmt::format("--set {}: this is about {}; write --set {}=...",
                              base::shown(argument), name, said.key));
    const auto option = std::ranges::find(options, said.key, &base::Option::name);
    // A key that is none is refused below, with the nearest one.
    given[said.key] =
        option == options.end() ? base::Value(said.value) : base::parse(*option, name, said.value);
  }
  return base::Settings(name, options, given);
}

}  // namespace parajoule::cli
