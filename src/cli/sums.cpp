// parajoule sums: how ranks add up.

#include "comm/sums.h"

#include "cli/commands.h"
#include "cli/listing.h"

namespace parajoule::cli {

void add_sums(CLI::App& app, Chosen& chosen) {
  std::vector<Alternative> entries;
  for (const auto& sum : comm::sums()) {
    entries.push_back({sum.name, sum.summary, sum.paper, sum.options});
  }
  add_listing(app, chosen,
              {.command = "sums",
               .help = "the ways to add up over all ranks, or one with its options",
               .key = "sum",
               .entries = entries});
}

}  // namespace parajoule::cli
