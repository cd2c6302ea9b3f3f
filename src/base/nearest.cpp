#include "base/nearest.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace parajoule::base {
namespace {

/// Letters to change, add, drop or swap with their neighbour to make `b` out of `a`.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      table[i][j] = std::min({changed, table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> names) {
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (std::string_view name : names) {
    // Nearer they cannot be than their lengths are: a word may be the whole of a file.
    if (std::max(word.size(), name.size()) - std::min(word.size(), name.size()) >= least) continue;
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
