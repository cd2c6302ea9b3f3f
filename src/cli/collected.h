#pragma once

// All wishes about one experiment, each checked on its own as it comes, so that an error can say
// where it was said.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/settings.h"
#include "cli/keys.h"
#include "cli/wishes.h"

namespace parajoule::cli {

/// Where a value came from, as the record says it.
enum class Origin { recipe, file, command_line };
std::string_view name_of(Origin origin);

class Collected {
 public:
  struct Given {
    base::Value value;
    Origin origin;
    std::string place;
  };
  using Table = std::map<std::string, Given>;

  explicit Collected(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), top_(vocabulary.top()) {}

  /// Throws Error{usage} for a wish that makes no sense by itself. Later wishes replace earlier
  /// ones of the same key.
  void add(const std::vector<Wish>& file);
  void add(const std::vector<std::string>& assignments);
  void add(const Wish& wish, Origin origin);

  /// What the recipe sets and nobody said otherwise.
  void add(const Recipe& recipe);

  /// The given values of a table; the empty name is the top of the file.
  const Table& table(std::string_view name) const;
  std::map<std::string, base::Value> values(std::string_view table) const;

  /// The name that holds for a choice: given, or its fallback.
  std::string chosen(std::string_view key) const;

 private:
  const base::Option* top_option(std::string_view key) const;
  const base::Option& option_of(const Wish& wish) const;
  void assign(Assignment said);
  /// The choices that have such an option and are not made: `strategy = local_sgd`.
  std::string not_chosen_with(std::string_view option) const;
  base::Error unknown_key(const Wish& wish) const;
  base::Error unknown_table(const Wish& wish) const;

  const Vocabulary& vocabulary_;
  std::vector<base::Option> top_;
  std::map<std::string, Table> tables_;
};

}  // namespace parajoule::cli
