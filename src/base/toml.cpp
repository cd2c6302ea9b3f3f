#include "base/toml.h"

#include <fmt/format.h>

#include "base/text.h"

namespace parajoule::base {
namespace {

constexpr std::size_t most_of_description = 200;  // it may repeat a key of any length

}  // namespace

toml::table toml_in(std::string_view text, const std::string& path, Fault fault,
                    const BetterWords& better) {
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    const unsigned line = error.source().begin.line;
    const std::optional<std::string> known = better ? better(line) : std::nullopt;
    const std::string why = known ? *known : shown(error.description(), most_of_description);
    throw Error(fault, fmt::format("{}:{}: {}", escaped(path), line, why));
  } catch (const TomlStuck&) {
    throw Error(fault,
                fmt::format("{}: is no TOML: a list or a table in it is not closed, or holds "
                            "what stands for no value",
                            escaped(path)));
  }
}

}  // namespace parajoule::base
