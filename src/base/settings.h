#pragma once

// Options of a choice (a strategy, an optimizer, a model, a data set ...): declared once in a
// table, checked once, read by type. The table prints the help and makes the errors.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace parajoule::base {

/// One option. `fallback` is written as in the experiment file: `8`, `0.9`, `true`, `ring`,
/// `[30, 60]`, `[0.8, 1.0]`. `least` and `most` hold for every entry of a list.
struct Option {
  enum class Kind { whole, number, word, flag, wholes, numbers };
  std::string_view name;
  Kind kind;
  std::string_view fallback;
  std::string_view help;                       ///< one line, with the unit and the paper's symbol
  std::vector<std::string_view> choices = {};  ///< of a word; empty: any
  std::optional<double> least = {};            ///< smallest number allowed
  std::optional<double> most = {};
};

/// What a user wrote for one option.
using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>,
                           std::vector<double>>;

/// As written in an experiment file: `8`, `0.9`, `true`, `"ring"` without quotes, `[30, 60]`.
std::string written(const Value& value);

/// The options of one choice with their values: given, or the fallback.
class Settings {
 public:
  Settings() = default;

  /// Throws Error{usage} that names `table`, the key, the value, and the choices, the range, or the
  /// nearest key.
  Settings(std::string_view table, std::span<const Option> options,
           const std::map<std::string, Value>& given);

  /// The value of the option `name`. One that is not declared, or of another kind, is a bug.
  std::int64_t whole(std::string_view name) const;
  double number(std::string_view name) const;
  const std::string& word(std::string_view name) const;
  bool flag(std::string_view name) const;
  const std::vector<std::int64_t>& wholes(std::string_view name) const;
  const std::vector<double>& numbers(std::string_view name) const;

  /// All options in the order of their names, and whether each was given: for the record.
  struct Entry {
    Value value;
    bool given;
  };
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  template <class T>
  const T& held(std::string_view name) const;

  std::map<std::string, Entry, std::less<>> entries_;
};

/// `text` as the kind of `option` wants it (for `--set key=value`). Throws Error{usage}.
Value parse(const Option& option, std::string_view table, std::string_view text);

}  // namespace parajoule::base
