#pragma once

// Reading a problem file: values with the way to them, for errors.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace parajoule::exact {

/// A value of a problem file and where it stands: "problem.json: curvature[2]".
struct Field {
  const nlohmann::json& value;
  std::string where;

  /// Throws Error{input}: where, what stands there, and what must stand there.
  [[noreturn]] void refuse(std::string_view wanted) const;

  double number() const;
  double number_from(double least) const;
  double number_in(double least, double most) const;
  std::int64_t whole_from(std::int64_t least) const;
  bool is_list() const { return value.is_array(); }
  /// Of lists, `empty` ones are refused unless they mean something.
  std::vector<double> numbers() const;
  std::vector<std::vector<double>> rows() const;

  /// A list with each entry read by `read(Field)`.
  template <class Read>
  auto list(std::string_view wanted, const Read& read) const {
    if (!value.is_array()) refuse(wanted);
    std::vector<decltype(read(*this))> entries;
    for (const auto& entry : value)
      entries.push_back(read(Field{entry, fmt::format("{}[{}]", where, entries.size())}));
    return entries;
  }
};

/// The text as JSON, in which there may be comments. Throws Error{input} that begins with `name`
/// and says where it ends to be JSON, or which key stands twice.
nlohmann::json json_in(std::string_view text, std::string_view name);

}  // namespace parajoule::exact
