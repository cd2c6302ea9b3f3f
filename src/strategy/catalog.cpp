#include "strategy/catalog.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/nearest.h"
#include "comm/codecs.h"
#include "strategy/coarse_sparse.h"
#include "strategy/delayed_averaging.h"
#include "strategy/hierarchical_parallel_sgd.h"
#include "strategy/local_sgd.h"
#include "strategy/lsgd.h"
#include "strategy/pipe_sgd.h"
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

Part part_of_pipe_sgd(int rank, int ranks, const comm::Nodes& nodes, const Settings& settings) {
  if (settings.word("start") == "repeat" && settings.whole("width") != 2)
    throw base::Error(base::Fault::usage,
                      "pipe_sgd.start = repeat: is known for width = 2 only; use start = \"zero\"");
  return equal_parts(rank, ranks, nodes, settings);
}

const comm::Codec* codec(std::string_view name) {
  if (name == "truncate16") return &comm::truncate16();
  return name == "scale8" ? &comm::scale8() : nullptr;
}

Part part_of_hierarchical_parallel_sgd(int rank, int ranks, const comm::Nodes& nodes,
                                       const Settings& settings) {
  if (settings.flag("adaptive") && settings.entries().at("period").given)
    throw base::Error(base::Fault::usage,
                      "hierarchical_parallel_sgd.adaptive = true: leaves no choice of the period; "
                      "give one of the two");
  return equal_parts(rank, ranks, nodes, settings);
}

Part part_of_coarse_sparse(int rank, int ranks, const comm::Nodes& nodes,
                           const Settings& settings) {
  if (settings.number("sparsity") == 1)
    throw base::Error(base::Fault::usage,
                      "coarse_sparse.sparsity = 1: would send nothing; must be below 1");
  return equal_parts(rank, ranks, nodes, settings);
}

Lsgd::Options lsgd_options(const Settings& settings) {
  return {.ranks_per_group = settings.whole("ranks_per_group")};
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
    {.name = "lsgd",
     .summary = "synchronous; a rank of each group only sums, while the others load their batches",
     .paper = "arXiv:1906.05936",
     .options = {{.name = "ranks_per_group",
                  .kind = Option::Kind::whole,
                  .fallback = "0",
                  .help = "workers and the communicator that serves them; 0: the ranks of a node",
                  .least = 0}},
     .part =
         [](int rank, int ranks, const comm::Nodes& nodes, const Settings& settings) {
           return Lsgd::part(rank, ranks, nodes, lsgd_options(settings));
         },
     .drift = [](const Settings&) -> std::int64_t { return 2; },
     .make = [](comm::Communicator& world, const Settings& settings) -> Made {
       return std::make_unique<Lsgd>(world, lsgd_options(settings));
     }},
    {.name = "pipe_sgd",
     .summary = "gradients are summed while the next are computed, and applied steps later",
     .paper = "arXiv:1811.03619",
     .options = {{.name = "width",
                  .kind = Option::Kind::whole,
                  .fallback = "2",
                  .help = "steps in the pipe (K): gradients are K - 1 steps old",
                  .least = 1},
                 {.name = "start",
                  .kind = Option::Kind::word,
                  .fallback = "zero",
                  .help = "what fills the pipe: no gradient, or the first one a second time",
                  .choices = {"zero", "repeat"}},
                 {.name = "warmup_steps",
                  .kind = Option::Kind::whole,
                  .fallback = "0",
                  .help = "synchronous steps before the pipe is filled (W)",
                  .least = 0},
                 {.name = "codec",
                  .kind = Option::Kind::word,
                  .fallback = "none",
                  .help = "how gradients are sent: whole, as 16 bits, or as 8 bits and a scale",
                  .choices = {"none", "truncate16", "scale8"}}},
     .part = part_of_pipe_sgd,
     .drift = [](const Settings& settings) { return settings.whole("width"); },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       const bool repeat = settings.word("start") == "repeat";
       return std::make_unique<PipeSgd>(
           group, PipeSgd::Options{.width = settings.whole("width"),
                                   .start = repeat ? PipeSgd::Start::repeat : PipeSgd::Start::zero,
                                   .warmup_steps = settings.whole("warmup_steps"),
                                   .codec = codec(settings.word("codec"))});
     }},
    {.name = "hierarchical_parallel_sgd",
     .summary = "replicas train on while the gradients of the period before move the weights",
     .paper = "arXiv:2009.02701",
     .options = {{.name = "period",
                  .kind = Option::Kind::whole,
                  .fallback = "4",
                  .help = "steps of a period (H)",
                  .least = 1},
                 {.name = "adaptive",
                  .kind = Option::Kind::flag,
                  .fallback = "false",
                  .help = "a period ends when the sum of the one before has arrived on all ranks"}},
     .part = part_of_hierarchical_parallel_sgd,
     .drift = [](const Settings& settings) -> std::int64_t {
       return settings.flag("adaptive") ? 1 : 2 * settings.whole("period");
     },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<HierarchicalParallelSgd>(
           group, HierarchicalParallelSgd::Options{.period = settings.whole("period"),
                                                   .adaptive = settings.flag("adaptive")});
     },
     .check_optimizer = HierarchicalParallelSgd::check_optimizer},
    {.name = "delayed_averaging",
     .summary = "each step from the mean of the weights, formed while the gradient is computed",
     .paper = "arXiv:2002.01119",
     .options = {},
     .part = equal_parts,
     .drift = [](const Settings&) -> std::int64_t { return 1; },
     .make = [](comm::Communicator& group, const Settings&) -> Made {
       return std::make_unique<DelayedAveraging>(group);
     }},
    {.name = "coarse_sparse",
     .summary = "only the chunks of the gradient with the largest norms are summed",
     .paper = "arXiv:1902.06855",
     .options = {{.name = "sparsity",
                  .kind = Option::Kind::number,
                  .fallback = "0.85",
                  .help = "share of the chunks that is held back",
                  .least = 0.0,
                  .most = 1.0},
                 {.name = "chunk",
                  .kind = Option::Kind::whole,
                  .fallback = "32000",
                  .help = "elements of a chunk",
                  .least = 1},
                 {.name = "warmup_steps",
                  .kind = Option::Kind::whole,
                  .fallback = "0",
                  .help = "steps in which the sparsity rises from 0 (W)",
                  .least = 0}},
     .part = part_of_coarse_sparse,
     .drift = [](const Settings&) -> std::int64_t { return 1; },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<CoarseSparse>(
           group, CoarseSparse::Options{.sparsity = settings.number("sparsity"),
                                        .chunk = settings.whole("chunk"),
                                        .warmup_steps = settings.whole("warmup_steps")});
     },
     .check_optimizer = CoarseSparse::check_optimizer},
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
