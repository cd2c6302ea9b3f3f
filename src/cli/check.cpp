#include "cli/check.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/blas.h"
#include "cli/rank.h"
#include "cli/vocabulary.h"
#include "data/catalog.h"
#include "nn/backend.h"
#include "nn/catalog.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;

/// Opens what is to be learnt from and makes what is to learn it: what is missing is told now.
void make_parts(const train::Experiment& experiment) {
  const auto& kind = data::kind(experiment.data.name);
  const auto training = kind.open(experiment.data.settings, data::Split::training);
  kind.open(experiment.data.settings, data::Split::validation);
  const data::Shape shape = training->shape();
  nn::model(experiment.model.name)
      .make(experiment.model.settings, {shape.channels, shape.height, shape.width},
            int(training->classes()));
}

void need_writable(const std::string& folder, std::string_view key) {
  std::error_code error;
  fs::create_directories(folder, error);
  const bool writable = !error && access(folder.c_str(), W_OK | X_OK) == 0;
  if (writable) return;
  throw base::Error(base::Fault::environment,
                    fmt::format("{} = {}: cannot be written: {}", key, folder,
                                error ? error.message() : std::strerror(errno)));
}

}  // namespace

LaunchFacts check(const Request& request, Begin begin) {
  const train::Experiment experiment = read_experiment(request, vocabulary());
  make_parts(experiment);
  need_writable(experiment.records, "records");
  need_writable(experiment.checkpoints, "checkpoints");
  const RunFolder folder =
      choose_run_folder(experiment.checkpoints, identity_of(experiment), begin);
  LaunchFacts facts{.ranks = experiment.ranks,
                    .threads = experiment.threads,
                    .node_cores = request.cores,
                    .folder = folder.path};
  const std::string threads = fmt::format("{}", experiment.threads);
  facts.environment = {{"OPENBLAS_NUM_THREADS", threads}, {"OMP_NUM_THREADS", threads}};
  const Blas blas{.kernel = nn::backend().kernel, .avx2 = __builtin_cpu_supports("avx2") != 0};
  if (const auto better = better_kernel(blas, environment)) {
    facts.environment.insert({better->variable, better->value});
    facts.remark = better->reason;
  }
  return facts;
}

}  // namespace parajoule::cli
