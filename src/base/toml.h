#pragma once

// Reading TOML: the one place where toml++ is included, so that no text can end the program. Some
// texts that are no TOML, such as "[{", break assertions of its parser, which would abort; here an
// assertion that does not hold is thrown.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace parajoule::base {

/// What is thrown where toml++ claims what does not hold.
struct TomlStuck {};

[[noreturn]] inline void toml_stuck() { throw TomlStuck(); }

}  // namespace parajoule::base

#define TOML_ASSERT(claim) ((claim) ? void() : ::parajoule::base::toml_stuck())
#include <toml++/toml.h>

namespace parajoule::base {

/// Throws Error{fault}, one line that begins with `path` and the line, for what is no TOML.
/// `better` may know more to say of a line than the parser does.
using BetterWords = std::function<std::optional<std::string>(unsigned line)>;
toml::table toml_in(std::string_view text, const std::string& path, Fault fault,
                    const BetterWords& better = {});

}  // namespace parajoule::base
