#pragma once

// What a part stores in a checkpoint: named arrays and numbers. It knows no file; `train/` writes
// it to one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/vector.h"

namespace parajoule::base {

class Archive {
 public:
  struct Entry {
    Element element;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
    bool operator==(const Entry&) const = default;
  };

  /// Stores a copy. A name stored twice is a bug. An empty shape means one dimension.
  void put(std::string_view name, Vector values, std::vector<std::int64_t> shape = {});
  void put(std::string_view name, std::int64_t value);
  void put(std::string_view name, double value);
  void put(std::string_view name, std::string_view text);
  void put(std::string_view name, std::span<const std::int64_t> values);

  /// Copies into `values`. Throws Error{input} that names what is missing or differs: the name, the
  /// element type, the shape. Nothing is copied then.
  void get(std::string_view name, Vector values, const std::vector<std::int64_t>& shape = {}) const;
  std::int64_t whole(std::string_view name) const;
  double number(std::string_view name) const;
  std::string text(std::string_view name) const;
  /// However many there are.
  std::vector<std::int64_t> wholes(std::string_view name) const;
  bool holds(std::string_view name) const { return entries_.contains(name); }

  /// The entries whose names begin with `prefix` + ".", without it; `nest` puts them back.
  Archive part(std::string_view prefix) const;
  void nest(std::string_view prefix, const Archive& part);

  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  std::map<std::string, Entry, std::less<>>& entries() { return entries_; }

 private:
  const Entry& at(std::string_view name) const;

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace parajoule::base
