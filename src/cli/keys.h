#pragma once

// The keys of an experiment file: one table, from which parsing, errors, the example and the page
// docs/experiment.md are made.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"

namespace parajoule::cli {

/// A key at the top of the file that holds a value. An option without a fallback is left out unless
/// given; its help says what holds then.
struct Key {
  std::string_view section;  ///< heading in the example and the page
  base::Option option;
};

std::span<const Key> keys();

/// A name that can be given for a choice, with the options of its table.
struct Alternative {
  std::string_view name;
  std::string_view summary;
  std::string_view paper;
  std::span<const base::Option> options;
};

/// A key at the top of the file that holds a name: `strategy = "local_sgd"`.
struct Choice {
  std::string_view key;
  std::string_view fallback;
  std::string_view help;
  std::vector<Alternative> alternatives;
};

/// What a recipe sets: the key `key` of the table `table`, or of the top if that is empty.
struct Preset {
  std::string_view table;
  std::string_view key;
  std::string_view value;
};

/// A published way to train, as one key: `recipe = "goyal"`.
struct Recipe {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::vector<Preset> presets;
};

/// Everything that can be named in an experiment.
struct Vocabulary {
  std::vector<Choice> choices;
  std::vector<Recipe> recipes;

  /// The choice that has a name `name`, and that entry; names are unique over all choices.
  const Alternative* alternative(std::string_view name) const;
  const Choice* choice(std::string_view key) const;

  /// Every key of the top of the file: the choices, with the names they take, and `keys()`.
  std::vector<base::Option> top() const;
};

/// The recipes that ship with the program.
std::vector<Recipe> recipes();

}  // namespace parajoule::cli
