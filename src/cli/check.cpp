#include "cli/check.h"

#include <fmt/format.h>

#include "cli/parts.h"
#include "cli/surroundings.h"
#include "cli/vocabulary.h"

namespace parajoule::cli {

LaunchFacts check(const RankOptions& options) {
  const Request& request = options.request;
  const train::Experiment experiment = read_experiment(request, vocabulary());
  const int on_a_node = most_on_a_node(environment, experiment.ranks);
  check_ranks_on_node(experiment, on_a_node);
  make_parts(experiment);
  named_meters(options.meters);
  make_folders(experiment);
  const RunFolder folder =
      choose_run_folder(experiment.checkpoints, identity_of(experiment), options.begin);
  LaunchFacts facts{.ranks = experiment.ranks,
                    .threads = experiment.threads,
                    .ranks_on_node = on_a_node,
                    .node_cores = request.cores,
                    .folder = folder.path};
  const std::string threads = fmt::format("{}", experiment.threads);
  facts.environment = {{"OPENBLAS_NUM_THREADS", threads}, {"OMP_NUM_THREADS", threads}};
  if (const auto better = better_kernel_here()) {
    facts.environment.insert({better->variable, better->value});
    facts.remarks.push_back(better->reason);
  }
  if (std::string unused = rehearsals_alone(request); !unused.empty())
    facts.remarks.push_back(std::move(unused));
  if (!folder.remark.empty()) facts.remarks.push_back(folder.remark);
  return facts;
}

}  // namespace parajoule::cli
