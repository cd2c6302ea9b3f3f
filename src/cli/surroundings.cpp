#include "cli/surroundings.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "measure/job.h"

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
               .remedy = "start it with the mpirun of the MPI that parajoule was built with"};
}

/// A batch script has SLURM_PROCID too; only a step that srun started has a number of tasks. One of
/// a single task (`srun --pty bash`) is where a person works.
std::optional<Place> under_srun(const Environment& environment) {
  const auto rank = whole(environment, "SLURM_PROCID");
  const auto tasks = whole(environment, "SLURM_STEP_NUM_TASKS");
  if (!rank || !tasks || *tasks < 2 || !environment("SLURM_STEP_ID")) return {};
  const bool acquainted =
      environment("PMIX_RANK") || environment("PMI_RANK") || environment("PMI_FD");
  if (!acquainted) {
    throw base::Error(base::Fault::environment,
                      fmt::format("srun started {} tasks that know nothing of each other; {}",
                                  *tasks, pmix_remedy(*tasks)));
  }
  return Place{.starter = "srun", .rank = *rank, .ranks = *tasks, .remedy = pmix_remedy(*tasks)};
}

/// MPICH's and Intel's process managers.
std::optional<Place> under_hydra(const Environment& environment) {
  const auto rank = whole(environment, "PMI_RANK");
  const auto ranks = whole(environment, "PMI_SIZE");
  if (!rank || !ranks) return {};
  return Place{.starter = "mpiexec",
               .rank = *rank,
               .ranks = *ranks,
               .remedy = "start it with the mpiexec of the MPI that parajoule was built with"};
}

/// torchrun, and what starts processes as it does: nothing here speaks its protocol.
std::optional<Place> under_torchrun(const Environment& environment) {
  const auto ranks = whole(environment, "WORLD_SIZE");
  if (!whole(environment, "RANK") || !ranks || *ranks < 2) return {};
  throw base::Error(base::Fault::environment,
                    fmt::format("RANK and WORLD_SIZE say that torchrun or the like started {} "
                                "processes, whose ranks cannot find each other; start them with "
                                "mpirun or srun, or unset both and set --ranks {}",
                                *ranks, *ranks));
}

}  // namespace

bool speaks_for_all(const Environment& environment) {
  for (const auto name : {"OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "RANK"}) {
    if (const auto rank = whole(environment, name)) return *rank == 0;
  }
  return true;
}

int most_on_a_node(const Environment& environment, int ranks) {
  const auto nodes = whole(environment, "SLURM_JOB_NUM_NODES");
  const auto slots = environment("SLURM_TASKS_PER_NODE");
  if (!nodes || *nodes < 2 || !slots) return ranks;
  int most = (ranks + *nodes - 1) / *nodes;  // of more ranks than slots
  for (const int tasks : measure::tasks_of_nodes(*slots)) most = std::max(most, tasks);
  return std::min(most, ranks);
}

std::optional<Place> place_in(const Environment& environment) {
  for (const auto place : {under_mpirun, under_srun, under_hydra, under_torchrun}) {
    if (auto found = place(environment)) return found;
  }
  return {};
}

}  // namespace parajoule::cli
