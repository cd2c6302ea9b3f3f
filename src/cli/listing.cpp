#include "cli/listing.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/example.h"
#include "cli/exit_status.h"

namespace parajoule::cli {
namespace {

const Alternative& entry_called(const Listing& listing, const std::string& name) {
  const auto found = std::ranges::find(listing.entries, name, &Alternative::name);
  if (found != listing.entries.end()) return *found;
  std::vector<std::string_view> names;
  for (const Alternative& entry : listing.entries) names.push_back(entry.name);
  throw base::Error(base::Fault::usage, fmt::format("{} {}: no such name{}", listing.command, name,
                                                    base::hint(name, names)));
}

}  // namespace

std::string list_of(const std::vector<Alternative>& entries) {
  std::size_t width = 0;
  for (const Alternative& entry : entries) width = std::max(width, entry.name.size());
  std::string text;
  for (const Alternative& entry : entries) {
    text += fmt::format("{:<{}}  {}\n", entry.name, width, entry.summary);
  }
  return text;
}

std::string explained(const Alternative& entry, std::string_view key) {
  std::string text = fmt::format("# {}\n", entry.summary);
  if (!entry.paper.empty()) text += fmt::format("# {}\n", entry.paper);
  text += fmt::format("{} = \"{}\"\n", key, entry.name);
  if (entry.options.empty()) return text;
  text += fmt::format("\n[{}]\n", entry.name);
  for (const base::Option& option : entry.options) text += explained(option);
  return text;
}

void add_listing(CLI::App& app, Chosen& chosen, const Listing& listing) {
  auto* command = app.add_subcommand(listing.command, listing.help);
  auto name = std::make_shared<std::string>();
  command->add_option("name", *name, "explain this one")->type_name("NAME");
  command->callback([listing, name, &chosen] {
    chosen = [listing, name] {
      std::cout << (name->empty() ? list_of(listing.entries)
                                  : explained(entry_called(listing, *name), listing.key));
      return int(done);
    };
  });
}

}  // namespace parajoule::cli
