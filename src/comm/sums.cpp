#include "comm/sums.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "comm/algorithms.h"

namespace parajoule::comm {
namespace {

template <Algorithm algorithm>
SumAlgorithm plain(const base::Settings&) {
  return algorithm;
}

/// For a table: the number of ranks decides nothing here.
Algorithm among_leaders(std::string_view name) {
  if (name == "ring") return ring;
  if (name == "halving_doubling") return halving_doubling;
  if (name == "binary_blocks") return binary_blocks;
  base::ensure(name == "tree", "the leaders of nodes add up by one of the other algorithms");
  return tree;
}

SumAlgorithm in_two_levels(const base::Settings& settings) {
  const Algorithm leaders = among_leaders(settings.word("leaders"));
  return [leaders](Summands& sum, Circle circle) {
    return hierarchical(sum, std::move(circle), leaders);
  };
}

const std::vector<Sum> table{
    {.name = "auto",
     .summary = "the way of the world itself: shared memory within a node, messages between nodes",
     .paper = "",
     .options = {},
     .make = [](const base::Settings&) { return SumAlgorithm(); }},
    {.name = "ring",
     .summary = "around a ring in 2 (p - 1) steps, the fewest bytes for any number of ranks",
     .paper = "Patarasuk, Yuan, J. Parallel Distrib. Comput. 69, 2009",
     .options = {},
     .make = plain<ring>},
    {.name = "halving_doubling",
     .summary =
         "halves of the vector over doubled distances and back, 2 log2 p steps; ranks beyond "
         "a power of two are paired off",
     .paper = "Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005",
     .options = {},
     .make = plain<halving_doubling>},
    {.name = "binary_blocks",
     .summary =
         "halving and doubling in blocks of a power of two, the smaller adding to the larger",
     .paper = "Rabenseifner, ICCS 2004",
     .options = {},
     .make = plain<binary_blocks>},
    {.name = "tree",
     .summary = "the whole vector up a binomial tree and down again, for short ones",
     .paper = "Thakur, Rabenseifner, Gropp, Int. J. High Perform. Comput. Appl. 19, 2005",
     .options = {},
     .make = plain<tree>},
    {.name = "hierarchical",
     .summary = "to one rank of each node, among these by another algorithm, and back",
     .paper = "Goyal et al., arXiv:1706.02677; Jia et al., arXiv:1807.11205",
     .options = {{.name = "leaders",
                  .kind = base::Option::Kind::word,
                  .fallback = "halving_doubling",
                  .help = "how the first ranks of the nodes add up among themselves",
                  .choices = {"ring", "halving_doubling", "binary_blocks", "tree"}}},
     .make = in_two_levels},
};

}  // namespace

std::span<const Sum> sums() { return table; }

const Sum& sum(std::string_view name) {
  const auto found = std::ranges::find(table, name, &Sum::name);
  if (found != table.end()) return *found;
  std::vector<std::string_view> names;
  for (const Sum& known : table) names.push_back(known.name);
  throw base::Error(base::Fault::usage,
                    fmt::format("sum = {}: no such algorithm{}", name, base::hint(name, names)));
}

}  // namespace parajoule::comm
