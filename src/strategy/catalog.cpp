#include "strategy/catalog.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/nearest.h"
#include "comm/codecs.h"
#include "schedule/topology.h"
#include "strategy/biased_local_sgd.h"
#include "strategy/coarse_sparse.h"
#include "strategy/cocod_sgd.h"
#include "strategy/daso.h"
#include "strategy/delayed_averaging.h"
#include "strategy/hierarchical_parallel_sgd.h"
#include "strategy/local_sgd.h"
#include "strategy/lsgd.h"
#include "strategy/oldsgd.h"
#include "strategy/overlap_local_sgd.h"
#include "strategy/parts.h"
#include "strategy/pipe_sgd.h"
#include "strategy/post_local_sgd.h"
#include "strategy/synchronous.h"

namespace parajoule::strategy {
namespace {

using base::Option;
using base::Settings;
using Made = std::unique_ptr<Strategy>;

const comm::Codec* codec(std::string_view name) {
  if (name == "truncate16") return &comm::truncate16();
  return name == "scale8" ? &comm::scale8() : nullptr;
}

Lsgd::Options lsgd_options(const Settings& settings) {
  return {.ranks_per_group = settings.whole("ranks_per_group")};
}

Option whole(std::string_view name, std::string_view fallback, std::string_view help,
             double least) {
  return {.name = name,
          .kind = Option::Kind::whole,
          .fallback = fallback,
          .help = help,
          .least = least};
}

/// A number from 0 to 1.
Option part_of_one(std::string_view name, std::string_view fallback, std::string_view help) {
  return {.name = name,
          .kind = Option::Kind::number,
          .fallback = fallback,
          .help = help,
          .least = 0,
          .most = 1};
}

std::int64_t two_periods(const Settings& settings) { return 2 * settings.whole("period"); }

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
                  .least = 0},
                 whole("threshold_bytes", "1000000",
                       "important gradients of so many bytes are summed during the pass", 1)},
     .part = part_of_coarse_sparse,
     .drift = [](const Settings&) -> std::int64_t { return 1; },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<CoarseSparse>(
           group, CoarseSparse::Options{.sparsity = settings.number("sparsity"),
                                        .chunk = settings.whole("chunk"),
                                        .warmup_steps = settings.whole("warmup_steps"),
                                        .threshold_bytes = settings.whole("threshold_bytes")});
     },
     .check_optimizer = CoarseSparse::check_optimizer},
    {.name = "post_local_sgd",
     .summary = "the mean gradient in every step until the learning rate falls, then as local_sgd",
     .paper = "arXiv:1808.07217",
     .options = {whole("period", "16", "local steps between two averages (H)", 1),
                 whole("from_epoch", "0",
                       "first epoch of local steps, from 0, in place of first_decay", 0),
                 {.name = "first_decay",
                  .kind = Option::Kind::flag,
                  .fallback = "true",
                  .help = "local steps begin when the learning rate first falls"}},
     .part = part_of_post_local_sgd,
     .drift = [](const Settings& settings) { return settings.whole("period"); },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<PostLocalSgd>(group, post_local(settings));
     }},
    {.name = "cocod_sgd",
     .summary =
         "each rank trains alone while the mean of the weights of `period` steps ago is summed",
     .paper = "arXiv:1906.12043",
     .options = {whole("period", "4", "steps of a round, hidden behind which is one sum (k)", 1)},
     .part = equal_parts,
     .drift = two_periods,
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<CocodSgd>(group, CocodSgd::Options{settings.whole("period")});
     }},
    {.name = "overlap_local_sgd",
     .summary = "each rank trains alone, pulled to a mean that was summed meanwhile",
     .paper = "arXiv:2002.09539",
     .options = {whole("period", "2", "steps between two pulls (tau)", 1),
                 part_of_one("pull", "0.6", "part of the way to the mean (alpha), below 1"),
                 part_of_one("momentum", "0.7", "of the mean, from round to round (beta)")},
     .part = part_of_overlap_local_sgd,
     .drift = two_periods,
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<OverlapLocalSgd>(
           group, OverlapLocalSgd::Options{.period = settings.whole("period"),
                                           .pull = settings.number("pull"),
                                           .momentum = settings.number("momentum")});
     }},
    {.name = "oldsgd",
     .summary = "each rank trains alone while its neighbours' weights of `period` steps ago arrive",
     .paper = "arXiv:2601.01493",
     .options = {whole("period", "4", "steps of a round, hidden behind which is one exchange (tau)",
                       1),
                 {.name = "topology",
                  .kind = Option::Kind::word,
                  .fallback = "ring",
                  .help = "ring, exponential, complete, or a file with the mixing matrix (W)"}},
     .part = part_on_graph,
     .drift = two_periods,
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<Oldsgd>(
           group, Oldsgd::Options{.period = settings.whole("period"),
                                  .mixing = schedule::mixing(settings.word("topology"),
                                                             group.rank(), group.size())});
     }},
    {.name = "biased_local_sgd",
     .summary = "local SGD in which slow ranks take fewer steps, on the samples of greatest loss",
     .paper = "arXiv:2508.08540",
     .options = {{.name = "slow_ranks",
                  .kind = Option::Kind::wholes,
                  .fallback = "[]",
                  .help = "numbers of the ranks that are slow",
                  .least = 0},
                 whole("slow_steps", "1", "steps of a slow rank between two averages (tau_c)", 1),
                 whole("fast_steps", "32", "steps of the others (tau_g)", 1),
                 whole("candidates", "4", "samples to choose each one of a slow rank's from", 1),
                 {.name = "biased",
                  .kind = Option::Kind::flag,
                  .fallback = "true",
                  .help = "slow ranks choose their samples by loss"},
                 {.name = "weights",
                  .kind = Option::Kind::word,
                  .fallback = "equal",
                  .help = "of the ranks in an average: equal, or in proportion to their steps",
                  .choices = {"equal", "steps"}}},
     .part = part_of_biased_local_sgd,
     .drift =
         [](const Settings& settings) {
           return std::max(settings.whole("slow_steps"), settings.whole("fast_steps"));
         },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<BiasedLocalSgd>(group, biased_local(settings));
     }},
    {.name = "daso",
     .summary =
         "gradients averaged within a node; weights between nodes, by one rank of each in turn",
     .paper = "arXiv:2104.05588",
     .options = {whole("global_skip", "4",
                       "batches between two exchanges of the nodes, at first; 0: wait in each", 0),
                 whole("local_skip", "1", "batches between two averages within a node, at first",
                       1),
                 whole("wait", "1",
                       "batches until an exchange is merged, at first (S); at most global_skip, as "
                       "the next exchange merges the one before",
                       1),
                 whole("warmup_epochs", "4", "first epochs, in which the nodes wait in each batch",
                       0),
                 whole("cooldown_epochs", "4", "last epochs, in which they do so again", 0),
                 {.name = "downcast",
                  .kind = Option::Kind::word,
                  .fallback = "bfloat16",
                  .help = "what weights are sent as between nodes that wait",
                  .choices = {"bfloat16", "none"}}},
     .part = part_of_daso,
     .drift =
         [](const Settings& settings) {
           const std::int64_t skip = settings.whole("global_skip");
           return skip == 0 ? 1 : 2 * skip + std::max(settings.whole("wait"), skip / 2);
         },
     .make = [](comm::Communicator& group, const Settings& settings) -> Made {
       return std::make_unique<Daso>(group,
                                     Daso::Options{.cycle = daso_cycle(settings),
                                                   .downcast = settings.word("downcast") == "none"
                                                                   ? Daso::Downcast::none
                                                                   : Daso::Downcast::bfloat16});
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
