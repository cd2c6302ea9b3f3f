#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace parajoule::base {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> names) {
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (std::string_view name : names) {
    const std::size_t d = distance(word, name);
    if (d < least) {
      least = d;
      best = name;
    }
  }
  return best;
}

std::string hint(std::string_view word, std::span<const std::string_view> names) {
  if (const auto meant = nearest(word, names)) return fmt::format("; did you mean '{}'?", *meant);
  if (names.empty()) return "; there are none";
  return fmt::format("; known: {}", fmt::join(names, ", "));
}

}  // namespace parajoule::base
