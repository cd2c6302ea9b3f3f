#include "meter/cuda_visible.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <ranges>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace parajoule::meter {

namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t comma = text.find(',');
    words.push_back(base::trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

enum class Kind { index, gpu, part };

Kind kind_of(std::string_view word) {
  if (word.starts_with("GPU-")) return Kind::gpu;
  return word.starts_with("MIG-") ? Kind::part : Kind::index;
}

bool begins(std::string_view whole, std::string_view front) {
  return whole.size() >= front.size() && std::ranges::equal(
                                             whole.substr(0, front.size()), front, {},
                                             [](unsigned char c) { return std::tolower(c); },
                                             [](unsigned char c) { return std::tolower(c); });
}

/// A name as CUDA compares it, and the GPU it stands for.
struct Found {
  std::string what;
  std::size_t gpu;
};

/// Like strtoul, which CUDA goes by: `1gpu` is 1, `-1` is none.
std::optional<Found> by_index(std::string_view word, std::size_t count) {
  if (word.starts_with('+')) word.remove_prefix(1);
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (error != std::errc() || index >= count) return {};
  return Found{std::to_string(index), index};
}

std::optional<Found> by_uuid(std::string_view word, std::span<const GpuNames> gpus) {
  std::optional<Found> found;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!begins(gpus[i].uuid, word)) continue;
    if (found) return {};  // fits two
    found = Found{gpus[i].uuid, i};
  }
  return found;
}

std::optional<Found> by_part(std::string_view word, std::span<const GpuNames> gpus) {
  if (word.starts_with("MIG-GPU-")) {
    const std::string_view uuid = word.substr(4, word.find('/') - 4);
    const auto gpu = by_uuid(uuid, gpus);
    return gpu ? std::optional(Found{std::string(word), gpu->gpu}) : std::nullopt;
  }
  std::optional<Found> found;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (const std::string& part : gpus[i].parts) {
      if (!begins(part, word)) continue;
      if (found) return {};
      found = Found{part, i};
    }
  }
  return found;
}

std::optional<Found> find(std::string_view word, std::span<const GpuNames> gpus) {
  switch (kind_of(word)) {
    case Kind::gpu:
      return word.size() > 4 ? by_uuid(word, gpus) : std::nullopt;
    case Kind::part:
      return word.size() > 4 ? by_part(word, gpus) : std::nullopt;
    case Kind::index:
      return by_index(word, gpus.size());
  }
  return {};
}

}  // namespace

VisibleGpus visible_gpus(std::string_view text, std::span<const GpuNames> gpus) {
  VisibleGpus visible;
  if (base::trimmed(text).empty()) return visible;
  const std::vector<std::string_view> words = words_of(text);
  std::set<std::string> seen;
  for (std::string_view word : words) {
    const auto found = kind_of(word) == kind_of(words.front()) ? find(word, gpus) : std::nullopt;
    if (!found) {
      visible.remarks.push_back(
          fmt::format("'{}' in '{}' names no GPU: it and what follows is not visible", word, text));
      break;
    }
    if (!seen.insert(found->what).second) {
      visible.remarks.push_back(
          fmt::format("'{}' stands twice in '{}': CUDA then shows no GPU", word, text));
      visible.gpus.clear();
      return visible;
    }
    visible.gpus.push_back(found->gpu);
  }
  std::ranges::sort(visible.gpus);
  const auto repeated = std::ranges::unique(visible.gpus);
  visible.gpus.erase(repeated.begin(), repeated.end());
  return visible;
}

}  // namespace parajoule::meter
