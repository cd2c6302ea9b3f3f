// parajoule optimizers: what moves the weights.

#include "cli/commands.h"
#include "cli/listing.h"
#include "optimize/catalog.h"

namespace parajoule::cli {

void add_optimizers(CLI::App& app, Chosen& chosen) {
  std::vector<Alternative> entries;
  for (const auto& optimizer : optimize::optimizers()) {
    entries.push_back({optimizer.name, optimizer.summary, optimizer.paper, optimizer.options});
  }
  add_listing(app, chosen,
              {.command = "optimizers",
               .help = "the rules that move the weights, or one with its options",
               .key = "optimizer",
               .entries = entries});
}

}  // namespace parajoule::cli
