// parajoule strategies: the methods of training on many ranks.

#include <memory>

#include "cli/commands.h"
#include "cli/listing.h"
#include "strategy/catalog.h"

namespace parajoule::cli {

void add_strategies(CLI::App& app, Chosen& chosen) {
  std::vector<Alternative> entries;
  for (const auto& method : strategy::methods()) {
    entries.push_back({method.name, method.summary, method.paper, method.own_options()});
  }
  add_listing(app, chosen,
              {.command = "strategies",
               .help = "the ways to train on many ranks, or one with its options",
               .key = "strategy",
               .entries = entries});
}

}  // namespace parajoule::cli
