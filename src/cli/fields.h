#pragma once

// Named values as text: what the two executables tell each other (facts before the launch, notes of
// the ranks, the state of the live line). Values may hold any bytes, as arguments and paths do,
// which rules JSON out.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parajoule::cli {

class Fields {
 public:
  /// A later value of the same name replaces an earlier one.
  void put(std::string_view name, std::string_view value);
  void put(std::string_view name, double value);
  void put(std::string_view name, long value);

  std::optional<std::string> text(std::string_view name) const;
  std::optional<double> number(std::string_view name) const;
  std::optional<long> whole(std::string_view name) const;

  std::vector<std::string> names() const;

  /// `name value`, each followed by `end`. Newlines, `end` and backslashes within a value
  /// are escaped, so the text has no newline but those that are its ends.
  std::string written(char end = '\n') const;

  /// The inverse. What is no field is left out: a torn text gives the fields it still has.
  static Fields parse(std::string_view text, char end = '\n');

  bool operator==(const Fields&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace parajoule::cli
