#include "cli/top_settings.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::cli {

base::Settings top_settings(const Collected& collected, const Vocabulary& vocabulary) {
  const auto given = collected.values("");
  std::vector<base::Option> options = vocabulary.top();
  std::erase_if(options, [&](const base::Option& option) {
    return option.fallback.empty() && !given.contains(std::string(option.name));
  });
  return base::Settings("", options, given);
}

std::optional<std::int64_t> whole_if_given(const base::Settings& top, std::string_view key) {
  const auto entry = top.entries().find(key);
  if (entry == top.entries().end()) return {};
  return std::get<std::int64_t>(entry->second.value);
}

BatchSizes batch_sizes(const Collected& collected, const base::Settings& top,
                       std::int64_t training) {
  const auto global = collected.table("").find("global_batch_size");
  try {
    return resolve_batches({.local = whole_if_given(top, "local_batch_size"),
                            .global = whole_if_given(top, "global_batch_size")},
                           training);
  } catch (const base::Error& error) {
    throw base::Error(base::Fault::usage,
                      fmt::format("{}: {}", global->second.place, error.what()));
  }
}

}  // namespace parajoule::cli
