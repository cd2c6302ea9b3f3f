#include "meter/amd_visible.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"

namespace parajoule::meter {

namespace {

bool equal(std::string_view a, std::string_view b) {
  const auto lower = [](unsigned char c) { return std::tolower(c); };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// The place of a word's GPU among `left`, the GPUs there are.
std::optional<std::size_t> find(std::string_view word, std::span<const std::size_t> left,
                                std::span<const std::string> names) {
  if (word.starts_with("GPU-")) {
    const auto named = [&](std::size_t gpu) { return equal(names[gpu], word); };
    const auto found = std::ranges::find_if(left, named);
    if (found == left.end()) return {};
    return std::size_t(found - left.begin());
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number >= left.size()) return {};
  return number;
}

/// What a text leaves of `left`.
std::vector<std::size_t> chosen(std::string_view variable, std::string_view text,
                                std::span<const std::size_t> left,
                                std::span<const std::string> names,
                                std::vector<std::string>& remarks) {
  std::vector<std::size_t> gpus;
  std::string_view rest = text;
  while (!base::trimmed(rest).empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = base::trimmed(rest.substr(0, comma));
    const auto place = find(word, left, names);
    if (!place) {
      remarks.push_back(
          fmt::format("{}: '{}' in '{}' names no GPU: it and what follows is not visible", variable,
                      word, text));
      break;
    }
    if (std::ranges::find(gpus, left[*place]) == gpus.end()) gpus.push_back(left[*place]);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return gpus;
}

}  // namespace

VisibleAmdGpus visible_amd_gpus(std::optional<std::string_view> rocr,
                                std::optional<std::string_view> hip,
                                std::span<const std::string> names) {
  VisibleAmdGpus visible;
  visible.gpus.resize(names.size());
  std::iota(visible.gpus.begin(), visible.gpus.end(), std::size_t(0));
  if (rocr)
    visible.gpus = chosen("ROCR_VISIBLE_DEVICES", *rocr, visible.gpus, names, visible.remarks);
  if (hip) visible.gpus = chosen("HIP_VISIBLE_DEVICES", *hip, visible.gpus, names, visible.remarks);
  return visible;
}

}  // namespace parajoule::meter
