#include "strategy/parts.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "schedule/topology.h"

namespace parajoule::strategy {

using base::Settings;

Part equal_parts(int rank, int ranks, const comm::Nodes&, const Settings&) {
  return {.trains = rank, .share = 1.0 / ranks};
}

Part part_of_pipe_sgd(int rank, int ranks, const comm::Nodes& nodes, const Settings& settings) {
  if (settings.word("start") == "repeat" && settings.whole("width") != 2)
    throw base::Error(base::Fault::usage,
                      "pipe_sgd.start = repeat: is known for width = 2 only; use start = \"zero\"");
  return equal_parts(rank, ranks, nodes, settings);
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

Part part_of_overlap_local_sgd(int rank, int ranks, const comm::Nodes& nodes,
                               const Settings& settings) {
  if (settings.number("pull") == 1)
    throw base::Error(base::Fault::usage,
                      "overlap_local_sgd.pull = 1: every pull would undo what was trained since "
                      "the last one, so nothing is learned; must be below 1");
  return equal_parts(rank, ranks, nodes, settings);
}

PostLocalSgd::Options post_local(const Settings& settings) {
  const bool epoch = settings.entries().at("from_epoch").given;
  const bool decay = settings.flag("first_decay");
  if (epoch && decay && settings.entries().at("first_decay").given)
    throw base::Error(base::Fault::usage,
                      "post_local_sgd: from_epoch and first_decay = true are two beginnings of the "
                      "local steps; give one");
  PostLocalSgd::Options options{.period = settings.whole("period")};
  if (epoch || !decay) options.from_epoch = settings.whole("from_epoch");
  return options;
}

Part part_of_post_local_sgd(int rank, int ranks, const comm::Nodes& nodes,
                            const Settings& settings) {
  post_local(settings);
  return equal_parts(rank, ranks, nodes, settings);
}

Part part_on_graph(int rank, int ranks, const comm::Nodes& nodes, const Settings& settings) {
  schedule::mixing(settings.word("topology"), rank, ranks);
  return equal_parts(rank, ranks, nodes, settings);
}

BiasedLocalSgd::Options biased_local(const Settings& settings) {
  return {.slow_ranks = settings.wholes("slow_ranks"),
          .slow_steps = settings.whole("slow_steps"),
          .fast_steps = settings.whole("fast_steps"),
          .candidates = settings.whole("candidates"),
          .biased = settings.flag("biased"),
          .weights = settings.word("weights") == "equal" ? BiasedLocalSgd::Weights::equal
                                                         : BiasedLocalSgd::Weights::steps};
}

Part part_of_biased_local_sgd(int rank, int ranks, const comm::Nodes&, const Settings& settings) {
  const BiasedLocalSgd::Options options = biased_local(settings);
  std::vector<std::int64_t> slow = options.slow_ranks;
  std::ranges::sort(slow);
  if (std::ranges::adjacent_find(slow) != slow.end() || (!slow.empty() && slow.back() >= ranks))
    throw base::Error(base::Fault::usage,
                      "biased_local_sgd.slow_ranks = " + base::written(options.slow_ranks) +
                          ": must be different ranks from 0 to " + std::to_string(ranks - 1));
  return {.trains = rank,
          .share = double(options.steps(rank)) / double(options.steps_of_all(ranks))};
}

DasoCycle::Options daso_cycle(const Settings& settings) {
  return {.start = {.global_skip = settings.whole("global_skip"),
                    .local_skip = settings.whole("local_skip"),
                    .wait = settings.whole("wait")},
          .warmup_epochs = settings.whole("warmup_epochs"),
          .cooldown_epochs = settings.whole("cooldown_epochs")};
}

Part part_of_daso(int rank, int ranks, const comm::Nodes& nodes, const Settings& settings) {
  const DasoPace start = daso_cycle(settings).start;
  if (!start.blocking() && start.wait > start.global_skip)
    throw base::Error(base::Fault::usage, "daso.wait = " + std::to_string(start.wait) +
                                              ": at most global_skip (" +
                                              std::to_string(start.global_skip) +
                                              "), as the next exchange merges the one before");
  std::vector<int> on_node(std::size_t(nodes.count()));
  for (const int node : nodes.node) ++on_node[std::size_t(node)];
  for (const int there : on_node)
    if (there != on_node[0])
      throw base::Error(base::Fault::usage,
                        "daso: one node has " + std::to_string(on_node[0]) + " ranks and another " +
                            std::to_string(there) +
                            "; its groups take one rank of each node, so start equally many on "
                            "every node");
  return equal_parts(rank, ranks, nodes, settings);
}

}  // namespace parajoule::strategy
