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
     .paper = "arXiv:1706.02677, arXiv:2006.15704",
     .options = {{.name = "overlap",
                  .kind = Option::Kind::word,
                  .fallback = "merged",
                  .help = "sum merged gradients while the backward pass still runs, or after it",
                  .choices = {"none", "merged"}},
                 {.name = "merge_bytes",
                  .kind = Option::Kind::whole,
                  .fallback = "4194304",
                  .help = "gradients are merged into ranges of at least so many bytes",
                  .least = 1}},
     .part = equal_parts,
     .drift = [](const Settings&) -> std::int64_t { return 1; },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       const bool merged = settings.word("overlap") == "merged";
       return std::make_unique<Synchronous>(
           group, Synchronous::Options{
                      .overlap = merged ? Synchronous::Overlap::merged : Synchronous::Overlap::none,
                      .merge_bytes = std::size_t(settings.whole("merge_bytes"))});
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
