#pragma once

// Reading a TOML file in which every key is known: for machines and profiles.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::rehearse {

/// A table of a file that is being read. Whatever is wrong is thrown as Error{input} that names the
/// file, the line and the key; a key that nobody asked for is wrong too.
class TomlTable {
 public:
  /// The whole file. Throws for one that cannot be read or parsed.
  static TomlTable of_file(const std::string& path);
  static TomlTable of_text(const std::string& text, const std::string& path);
  TomlTable(TomlTable&&) noexcept;
  ~TomlTable();

  std::string word(std::string_view key);
  double number(std::string_view key, double least,
                double most = std::numeric_limits<double>::max());
  std::optional<double> number_if_given(std::string_view key, double least);
  std::int64_t whole(std::string_view key, std::int64_t least);
  bool flag_or(std::string_view key, bool fallback);
  std::int64_t whole_or(std::string_view key, std::int64_t least, std::int64_t fallback);
  /// A number of things that are counted: from 1 to a million.
  int count(std::string_view key, std::optional<int> fallback = {});
  std::vector<std::int64_t> wholes(std::string_view key);
  TomlTable table(std::string_view key);
  std::vector<TomlTable> tables(std::string_view key);
  std::vector<std::string> keys() const;

  /// Throws for a key that is none of these; before one is missed that is only misspelt.
  void allow_only(std::span<const std::string_view> known) const;

  /// Throws what is wrong with the value of a key.
  [[noreturn]] void refuse(std::string_view key, const std::string& why) const;
  /// All keys have been asked for.
  void finish() const;

 private:
  struct Node;
  explicit TomlTable(std::unique_ptr<Node> node);
  std::unique_ptr<Node> node_;
};

}  // namespace parajoule::rehearse
