#include "strategy/catalog.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/nearest.h"
#include "strategy/local_sgd.h"
#include "strategy/synchronous.h"

namespace parajoule::strategy {
namespace {

using base::Option;
using base::Settings;
using Made = std::unique_ptr<Strategy>;

/// Every rank trains and takes the same share: no method here needs more ranks than one.
Part equal_parts(int rank, int ranks, const comm::Nodes&, const Settings&) {
  return {.trains = rank, .share = 1.0 / ranks};
}

const std::vector<Method> table{
    {.name = "synchronous",
     .summary = "every step all ranks take the mean gradient over the global batch",
     .paper = "arXiv:1706.02677",
     .options = overlap_options(),
     .part = equal_parts,
     .drift = [](const Settings&) -> std::int64_t { return 1; },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<Synchronous>(group, settings);
     }},
    {.name = "local_sgd",
     .summary = "each rank trains alone; every `period` steps all take the mean of the weights",
     .paper = "arXiv:1805.09767",
     .options = {{.name = "period",
                  .kind = Option::Kind::whole,
                  .fallback = "8",
                  .help = "steps between two averages (H)",
                  .least = 1}},
     .part = equal_parts,
     .drift = [](const Settings& settings) { return settings.whole("period"); },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<LocalSgd>(group, LocalSgd::Options{settings.whole("period")});
     }},
};

}  // namespace

bool Method::overlaps() const {
  return std::ranges::find(options, "overlap", &Option::name) != options.end();
}

std::span<const base::Option> Method::own_options() const {
  const auto own = std::ranges::find(options, "overlap", &Option::name) - options.begin();
  return std::span(options).first(std::size_t(own));
}

std::span<const Method> methods() { return table; }

const Method& method(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Method::name);
  if (found != table.end()) return *found;
  std::vector<std::string_view> names;
  for (const Method& known : table) names.push_back(known.name);
  throw base::Error(base::Fault::usage, "strategy: unknown method '" + std::string(name) + "'" +
                                            base::hint(name, names));
}

}  // namespace parajoule::strategy
