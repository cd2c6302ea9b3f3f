#pragma once

// The spans of a record that energies are asked of: when the command ran on each node, and when the
// node was idle before it. They stand among the settings: `command.0.begin_seconds`.

#include <optional>
#include <string_view>
#include <vector>

#include "meter/account.h"
#include "store/rows.h"

namespace parajoule::measure {

inline constexpr std::string_view command_span = "command";
inline constexpr std::string_view idle_span = "idle";

/// Two settings, or one for a span that has only begun.
std::vector<store::Setting> settings_of(std::string_view name, int node, base::Seconds begin,
                                        std::optional<base::Seconds> end);

/// A span that has no end yet, or never got one, ends at `last`. None if it never began.
std::optional<meter::Span> span_in(const std::vector<store::Setting>& settings,
                                   std::string_view name, int node, base::Seconds last);

}  // namespace parajoule::measure
