#include "cli/example.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace parajoule::cli {
namespace {

constexpr std::size_t comment_width = 96;

/// `text` as comment lines that fit the width.
std::string comment(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string lines;
  std::string line = "#";
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > comment_width) {
      lines += line + '\n';
      line = '#';
    }
    line += ' ';
    line += word;
  }
  return lines + line + "\n";
}

/// Words may be empty; of other kinds nothing means that the key is left out unless given.
bool left_out(const base::Option& option) {
  return option.fallback.empty() && option.kind != base::Option::Kind::word;
}

std::string value_text(const base::Option& option) {
  if (option.kind == base::Option::Kind::word) return fmt::format("\"{}\"", option.fallback);
  return std::string(option.fallback);
}

/// "one of a, b", "at least 1", "0 to 1", or nothing.
std::string allowed(const base::Option& option) {
  if (!option.choices.empty()) return fmt::format("one of {}", fmt::join(option.choices, ", "));
  if (option.least && option.most && *option.least == *option.most) return "";
  if (option.least && option.most) return fmt::format("{} to {}", *option.least, *option.most);
  if (option.least) return fmt::format("at least {}", *option.least);
  if (option.most) return fmt::format("at most {}", *option.most);
  return "";
}

std::string help_of(const base::Option& option) {
  const std::string range = allowed(option);
  return range.empty() ? std::string(option.help) : fmt::format("{}; {}", option.help, range);
}

std::string heading(std::string_view text) { return fmt::format("\n# --- {}\n\n", text); }

std::string of_choices(const Vocabulary& vocabulary) {
  std::string text;
  for (const Choice& choice : vocabulary.choices) {
    std::vector<std::string_view> names;
    for (const Alternative& alternative : choice.alternatives) names.push_back(alternative.name);
    text += comment(fmt::format("{}; one of {}", choice.help, fmt::join(names, ", ")));
    text += fmt::format("{} = \"{}\"\n", choice.key, choice.fallback);
  }
  return text;
}

std::string of_recipes(const Vocabulary& vocabulary) {
  std::string text;
  for (const Recipe& recipe : vocabulary.recipes) {
    text += comment(fmt::format("recipe \"{}\": {}", recipe.name, recipe.summary));
  }
  return text;
}

std::string of_chosen_tables(const Vocabulary& vocabulary) {
  std::string text;
  for (const Choice& choice : vocabulary.choices) {
    const Alternative* alternative = vocabulary.alternative(choice.fallback);
    if (alternative->options.empty()) continue;
    text += fmt::format("\n[{}]\n", alternative->name);
    for (const base::Option& option : alternative->options) text += explained(option);
  }
  return text;
}

std::string kind_text(base::Option::Kind kind) {
  using Kind = base::Option::Kind;
  switch (kind) {
    case Kind::whole:
      return "whole number";
    case Kind::number:
      return "number";
    case Kind::word:
      return "word";
    case Kind::flag:
      return "true or false";
    case Kind::wholes:
      return "whole numbers";
    case Kind::numbers:
      break;
  }
  return "numbers";
}

/// A cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) {
    text.insert(at, 1, '\\');
  }
  return text;
}

std::string rows(std::span<const base::Option> options) {
  std::string text = "\n| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const base::Option& option : options) {
    const std::string fallback = left_out(option) ? "" : fmt::format("`{}`", value_text(option));
    text += fmt::format("| `{}` | {} | {} | {} |\n", option.name, kind_text(option.kind), fallback,
                        cell(help_of(option)));
  }
  return text;
}

std::string key_sections() {
  std::string text;
  std::vector<base::Option> options;
  const auto all = keys();
  for (std::size_t i = 0; i < all.size(); ++i) {
    options.push_back(all[i].option);
    const bool last = i + 1 == all.size() || all[i + 1].section != all[i].section;
    if (!last) continue;
    text += fmt::format("\n## {}\n{}", all[i].section, rows(options));
    options.clear();
  }
  return text;
}

std::string choice_section(const Choice& choice) {
  std::string text = fmt::format("\n## `{}`: {}\n", choice.key, choice.help);
  text += fmt::format("\nDefault `\"{}\"`.\n", choice.fallback);
  for (const Alternative& alternative : choice.alternatives) {
    text += fmt::format("\n### `{}`\n\n{}\n", alternative.name, alternative.summary);
    if (!alternative.paper.empty()) text += fmt::format("\n{}\n", alternative.paper);
    if (!alternative.options.empty()) text += rows(alternative.options);
  }
  return text;
}

bool is_word(const Vocabulary& vocabulary, const Preset& preset) {
  const std::vector<base::Option> top = vocabulary.top();
  const std::span<const base::Option> options = preset.table.empty()
                                                    ? std::span<const base::Option>(top)
                                                    : vocabulary.alternative(preset.table)->options;
  const auto option = std::ranges::find(options, preset.key, &base::Option::name);
  return option != options.end() && option->kind == base::Option::Kind::word;
}

std::string recipe_section(const Vocabulary& vocabulary, const Recipe& recipe) {
  std::string text = fmt::format("\n### `{}`\n\n{}\n\n{}\n\n```toml\n", recipe.name, recipe.summary,
                                 recipe.source);
  std::string_view table;
  for (const Preset& preset : recipe.presets) {
    if (preset.table != table) text += fmt::format("\n[{}]\n", table = preset.table);
    const std::string_view quote = is_word(vocabulary, preset) ? "\"" : "";
    text += fmt::format("{} = {}{}{}\n", preset.key, quote, preset.value, quote);
  }
  return text + "```\n";
}

}  // namespace

std::string explained(const base::Option& option) {
  const std::string help = comment(help_of(option));
  if (left_out(option)) return fmt::format("{}# {} =\n", help, option.name);
  return fmt::format("{}{} = {}\n", help, option.name, value_text(option));
}

std::string shown_settings(const train::Experiment& experiment) {
  std::string text;
  for (const train::Setting& setting : experiment.settings) {
    text += fmt::format("{:<48}  # {}\n", fmt::format("{} = {}", setting.key, setting.value),
                        setting.origin);
  }
  return text;
}

std::string example(const Vocabulary& vocabulary) {
  std::string text = comment(
      "An experiment of Parajoule: train it with `parajoule train FILE`. Every key may be left "
      "out; the values below are what holds then.");
  std::string_view section;
  for (const Key& key : keys()) {
    const bool first = section.empty();
    if (key.section != section) text += heading(section = key.section);
    if (key.option.name == "recipe") text += of_recipes(vocabulary);
    text += explained(key.option);
    if (first) text += of_choices(vocabulary);
  }
  return text + "\n# --- Options of what was chosen above\n" + of_chosen_tables(vocabulary);
}

std::string page(const Vocabulary& vocabulary) {
  std::string text =
      "# The experiment file\n\n"
      "Written by `parajoule train --keys`; do not edit by hand.\n\n"
      "A choice (`model`, `data`, `strategy`, `optimizer`, `schedule`) is a key at the top of the\n"
      "file that holds a name; its options stand in the table of that name. `--set key=value` and\n"
      "`--set table.key=value` on the command line override the file; a bare key is one of the "
      "top\n"
      "of the file, else an option of the chosen strategy. In the file a word stands in quotes, "
      "as\n"
      "in any TOML file; after `--set` it needs none. Tables of what is not chosen are read, and "
      "do\n"
      "nothing. The record of a run keeps every value with its origin: default, recipe, file,\n"
      "command line, or the key it follows from.\n";
  text += key_sections();
  for (const Choice& choice : vocabulary.choices) text += choice_section(choice);
  text +=
      "\n## Recipes\n\nA recipe sets the keys below, but none that the file or the "
      "command line gives. The file of\n`parajoule train --example` gives all of them: delete "
      "those "
      "that the recipe should set.\n`parajoule train FILE --settings` shows what holds, and from "
      "where.\n";
  for (const Recipe& recipe : vocabulary.recipes) text += recipe_section(vocabulary, recipe);
  return text;
}

}  // namespace parajoule::cli
