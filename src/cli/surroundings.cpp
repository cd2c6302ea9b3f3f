#include "cli/surroundings.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

std::optional<int> whole(const Environment& environment, std::string_view name) {
  const auto text = environment(name);
  int value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
    return {};
  return value;
}

std::string pmix_remedy(int tasks) {
  return fmt::format(
      "start it with `srun --mpi=pmix -n {} parajoule train ...` (`srun --mpi=list` shows what "
      "this Slurm has), or without srun, from the batch script itself",
      tasks);
}

std::optional<Place> under_mpirun(const Environment& environment) {
  const auto rank = whole(environment, "OMPI_COMM_WORLD_RANK");
  const auto ranks = whole(environment, "OMPI_COMM_WORLD_SIZE");
  if (!rank || !ranks) return {};
  return Place{.starter = "mpirun",
               .rank = *rank,
               .ranks = *ranks,
               .ranks_on_node = whole(environment, "OMPI_COMM_WORLD_LOCAL_SIZE").value_or(1),
               .remedy = "start it with the mpirun of the MPI that parajoule was built with"};
}

/// A batch script has SLURM_PROCID too; only a step that srun started has a number of tasks.
std::optional<Place> under_srun(const Environment& environment) {
  const auto rank = whole(environment, "SLURM_PROCID");
  const auto tasks = whole(environment, "SLURM_STEP_NUM_TASKS");
  if (!rank || !tasks || !environment("SLURM_STEP_ID")) return {};
  const bool acquainted =
      environment("PMIX_RANK") || environment("PMI_RANK") || environment("PMI_FD");
  if (*tasks > 1 && !acquainted) {
    throw base::Error(base::Fault::environment,
                      fmt::format("srun started {} tasks that know nothing of each other; {}",
                                  *tasks, pmix_remedy(*tasks)));
  }
  // "2(x3),1": the first number is that of the first node.
  const int on_node = whole(environment, "SLURM_STEP_TASKS_PER_NODE").value_or(1);
  return Place{.starter = "srun",
               .rank = *rank,
               .ranks = *tasks,
               .ranks_on_node = on_node,
               .remedy = pmix_remedy(*tasks)};
}

/// MPICH's and Intel's process managers.
std::optional<Place> under_hydra(const Environment& environment) {
  const auto rank = whole(environment, "PMI_RANK");
  const auto ranks = whole(environment, "PMI_SIZE");
  if (!rank || !ranks) return {};
  return Place{.starter = "mpiexec",
               .rank = *rank,
               .ranks = *ranks,
               .ranks_on_node = whole(environment, "MPI_LOCALNRANKS").value_or(1),
               .remedy = "start it with the mpiexec of the MPI that parajoule was built with"};
}

std::optional<Place> under_torchrun(const Environment& environment) {
  const auto rank = whole(environment, "RANK");
  const auto ranks = whole(environment, "WORLD_SIZE");
  if (!rank || !ranks) return {};
  return Place{.starter = "RANK and WORLD_SIZE",
               .rank = *rank,
               .ranks = *ranks,
               .ranks_on_node = whole(environment, "LOCAL_WORLD_SIZE").value_or(1),
               .remedy = "unset RANK and WORLD_SIZE, and let parajoule start its ranks itself"};
}

}  // namespace

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value) return {};
  return value;
}

std::optional<Place> place_in(const Environment& environment) {
  for (const auto place : {under_mpirun, under_srun, under_hydra, under_torchrun}) {
    if (auto found = place(environment)) return found;
  }
  return {};
}

}  // namespace parajoule::cli
