#include "cli/collected.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/text.h"

namespace parajoule::cli {
namespace {

constexpr std::string_view command_line = "--set";

base::Error wrong(const std::string& what) { return {base::Fault::usage, what}; }

template <class List>
const base::Option* find_option(const List& options, std::string_view name) {
  const auto found = std::ranges::find(options, name, &base::Option::name);
  return found == std::ranges::end(options) ? nullptr : &*found;
}

template <class List>
std::vector<std::string_view> names_of(const List& options) {
  std::vector<std::string_view> names;
  for (const base::Option& option : options) names.push_back(option.name);
  return names;
}

std::string said(const Wish& wish) {
  return fmt::format("{}: {}{}{} = {}", wish.place, base::shown(wish.table),
                     wish.table.empty() ? "" : ".", base::shown(wish.key),
                     base::shown(base::written(wish.value)));
}

}  // namespace

std::string_view name_of(Origin origin) {
  switch (origin) {
    case Origin::recipe:
      return "recipe";
    case Origin::file:
      return "file";
    case Origin::command_line:
      break;
  }
  return "command line";
}

const Collected::Table& Collected::table(std::string_view name) const {
  static const Table nothing;
  const auto found = tables_.find(std::string(name));
  return found == tables_.end() ? nothing : found->second;
}

std::map<std::string, base::Value> Collected::values(std::string_view name) const {
  std::map<std::string, base::Value> values;
  for (const auto& [key, given] : table(name)) values.emplace(key, given.value);
  return values;
}

std::string Collected::chosen(std::string_view key) const {
  const auto given = table("").find(std::string(key));
  if (given != table("").end()) return std::get<std::string>(given->second.value);
  return std::string(top_option(key)->fallback);
}

void Collected::add(const std::vector<Wish>& file) {
  // The choices first: what an error says about the rest depends on them.
  const auto is_choice = [this](const Wish& wish) {
    return wish.table.empty() && vocabulary_.choice(wish.key);
  };
  for (const Wish& wish : file) {
    if (is_choice(wish)) add(wish, Origin::file);
  }
  for (const Wish& wish : file) {
    if (!is_choice(wish)) add(wish, Origin::file);
  }
}

void Collected::add(const std::vector<std::string>& assignments) {
  // A bare key may mean the chosen strategy's option: first what is chosen, then the rest.
  std::vector<Assignment> others;
  for (const std::string& argument : assignments) {
    Assignment assignment = assignment_in(argument);
    if (assignment.table.empty() && top_option(assignment.key)) {
      assign(assignment);
    } else {
      others.push_back(assignment);
    }
  }
  for (Assignment& assignment : others) {
    const std::string strategy = chosen("strategy");
    const bool bare = assignment.table.empty();
    if (bare && find_option(vocabulary_.alternative(strategy)->options, assignment.key)) {
      assignment.table = strategy;
    }
    assign(assignment);
  }
}

void Collected::assign(Assignment said) {
  Wish wish{.table = said.table,
            .key = said.key,
            .value = said.value,
            .place = std::string(command_line)};
  const base::Option& option = option_of(wish);
  try {
    wish.value = base::parse(option, said.table, said.value);
  } catch (const base::Error& error) {
    throw wrong(fmt::format("{}: {}", command_line, error.what()));
  }
  add(wish, Origin::command_line);
}

void Collected::add(const Wish& wish, Origin origin) {
  const base::Option& option = option_of(wish);
  try {
    const base::Settings checked(wish.table, {&option, 1}, {{wish.key, wish.value}});
    tables_[wish.table][wish.key] = {checked.entries().at(wish.key).value, origin, wish.place};
  } catch (const base::Error& error) {
    throw wrong(fmt::format("{}: {}", wish.place, error.what()));
  }
}

void Collected::add(const Recipe& recipe) {
  for (const Preset& preset : recipe.presets) {
    const std::string table(preset.table);
    const std::string key(preset.key);
    if (tables_[table].contains(key)) continue;
    Wish wish{.table = table,
              .key = key,
              .value = std::string(preset.value),
              .place = fmt::format("recipe {}", recipe.name)};
    wish.value = base::parse(option_of(wish), table, preset.value);
    add(wish, Origin::recipe);
  }
}

const base::Option* Collected::top_option(std::string_view key) const {
  return find_option(top_, key);
}

const base::Option& Collected::option_of(const Wish& wish) const {
  if (wish.table.empty()) {
    if (const base::Option* option = top_option(wish.key)) return *option;
    throw unknown_key(wish);
  }
  const Alternative* alternative = vocabulary_.alternative(wish.table);
  if (!alternative) throw unknown_table(wish);
  if (const base::Option* option = find_option(alternative->options, wish.key)) return *option;
  throw wrong(fmt::format("{}: unknown option{}", said(wish),
                          base::hint(wish.key, names_of(alternative->options))));
}

std::string Collected::not_chosen_with(std::string_view option) const {
  std::vector<std::string> found;
  for (const Choice& choice : vocabulary_.choices) {
    for (const Alternative& alternative : choice.alternatives) {
      if (find_option(alternative.options, option))
        found.push_back(fmt::format("{} = {}", choice.key, alternative.name));
    }
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

base::Error Collected::unknown_key(const Wish& wish) const {
  for (const Choice& choice : vocabulary_.choices) {
    const std::string name = chosen(choice.key);
    if (find_option(vocabulary_.alternative(name)->options, wish.key)) {
      return wrong(fmt::format("{}: unknown key; it is an option of {}: write {}.{}", said(wish),
                               name, name, wish.key));
    }
  }
  if (const std::string others = not_chosen_with(wish.key); !others.empty()) {
    return wrong(fmt::format("{}: unknown key; it is an option of what is not chosen: {}",
                             said(wish), others));
  }
  if (vocabulary_.alternative(wish.key)) {
    return wrong(fmt::format("{}: `{}` is no key; its options stand in the table [{}]", said(wish),
                             wish.key, wish.key));
  }
  return wrong(fmt::format("{}: unknown key{}", said(wish), base::hint(wish.key, names_of(top_))));
}

base::Error Collected::unknown_table(const Wish& wish) const {
  if (vocabulary_.choice(wish.table)) {
    const std::string name = chosen(wish.table);
    return wrong(fmt::format("{}: `{}` is a key; the options of {} stand in the table [{}]",
                             said(wish), wish.table, name, name));
  }
  if (top_option(wish.table)) {
    return wrong(fmt::format("{}: `{}` is a key and holds no others", said(wish), wish.table));
  }
  std::vector<std::string_view> names;
  for (const Choice& choice : vocabulary_.choices) {
    for (const Alternative& alternative : choice.alternatives) names.push_back(alternative.name);
  }
  return wrong(fmt::format("{}: nothing is called '{}'{}", said(wish), base::shown(wish.table),
                           base::hint(wish.table, names)));
}

}  // namespace parajoule::cli
