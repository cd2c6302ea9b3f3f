#include "measure/job.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

std::optional<int> whole_in(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

std::optional<int> whole(const Environment& environment, std::string_view name) {
  const auto text = environment(name);
  return text ? whole_in(*text) : std::nullopt;
}

/// A batch script has SLURM_PROCID too; only a step that srun started has a number of tasks.
std::optional<Task> under_srun(const Environment& environment) {
  const auto rank = whole(environment, "SLURM_PROCID");
  const auto ranks = whole(environment, "SLURM_STEP_NUM_TASKS");
  const auto job = environment("SLURM_JOB_ID");
  const auto step = environment("SLURM_STEP_ID");
  if (!rank || !ranks || *ranks < 2 || !job || !step) return {};
  Task task{.job = fmt::format("slurm-{}.{}", *job, *step),
            .rank = *rank,
            .ranks = *ranks,
            .nodes = whole(environment, "SLURM_STEP_NUM_NODES")};
  const auto node = whole(environment, "SLURM_NODEID");
  const auto layout = tasks_of_nodes(environment("SLURM_STEP_TASKS_PER_NODE").value_or(""));
  if (node && std::size_t(*node) < layout.size()) task.on_node = layout[std::size_t(*node)];
  return task;
}

/// Open MPI 4 and 5: the job's name space, or where mpirun listens; else mpirun itself, which is
/// the parent of all of them on its node.
std::optional<Task> under_open_mpi(const Environment& environment) {
  const auto rank = whole(environment, "OMPI_COMM_WORLD_RANK");
  const auto ranks = whole(environment, "OMPI_COMM_WORLD_SIZE");
  if (!rank || !ranks || *ranks < 2) return {};
  std::string job = fmt::format("parent-{}", getppid());
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"})
    if (const auto id = environment(name)) {
      job = *id;
      break;
    }
  job += environment("OMPI_MCA_orte_hnp_uri").value_or("");
  return Task{.job = "mpirun-" + job,
              .rank = *rank,
              .ranks = *ranks,
              .on_node = whole(environment, "OMPI_COMM_WORLD_LOCAL_SIZE")};
}

/// MPICH's and Intel's process managers: what starts the tasks of a node is their parent.
std::optional<Task> under_hydra(const Environment& environment) {
  const auto rank = whole(environment, "PMI_RANK");
  const auto ranks = whole(environment, "PMI_SIZE");
  if (!rank || !ranks || *ranks < 2) return {};
  return Task{.job = fmt::format("mpiexec-{}", getppid()),
              .rank = *rank,
              .ranks = *ranks,
              .on_node = whole(environment, "MPI_LOCALNRANKS")};
}

}  // namespace

std::vector<int> tasks_of_nodes(std::string_view text) {
  constexpr int most_nodes = 1'000'000;
  std::vector<int> all;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    int times = 1;
    if (const std::size_t bracket = part.find("(x"); bracket != part.npos) {
      if (!part.ends_with(')')) return {};
      const auto number = whole_in(part.substr(bracket + 2, part.size() - bracket - 3));
      if (!number) return {};
      times = *number;
      part = part.substr(0, bracket);
    }
    const auto tasks = whole_in(part);
    if (!tasks || times > most_nodes - int(all.size())) return {};
    all.insert(all.end(), std::size_t(times), *tasks);
  }
  return all;
}

std::optional<Task> task_in(const Environment& environment) {
  // An mpirun within an srun of one task, or the other way round: the inner one is nearer.
  if (auto task = under_open_mpi(environment)) return task;
  if (auto task = under_srun(environment)) return task;
  return under_hydra(environment);
}

std::vector<store::Setting> slurm_settings(const Environment& environment) {
  static constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"SLURM_JOB_ID", "slurm.job_id"},
      {"SLURM_STEP_ID", "slurm.step_id"},
      {"SLURM_JOB_NAME", "slurm.job_name"},
      {"SLURM_ARRAY_JOB_ID", "slurm.array_job_id"},
      {"SLURM_ARRAY_TASK_ID", "slurm.array_task_id"},
      {"SLURM_JOB_ACCOUNT", "slurm.account"},
      {"SLURM_JOB_PARTITION", "slurm.partition"},
      {"SLURM_CLUSTER_NAME", "slurm.cluster"},
      {"SLURM_JOB_NODELIST", "slurm.nodes"},
      {"SLURM_JOB_NUM_NODES", "slurm.number_of_nodes"},
      {"SLURM_NTASKS", "slurm.tasks"},
      {"SLURM_CPUS_PER_TASK", "slurm.cpus_per_task"},
      {"SLURM_GPUS_ON_NODE", "slurm.gpus_on_node"},
      {"SLURM_JOB_GPUS", "slurm.gpus"},
  };
  std::vector<store::Setting> settings;
  if (!environment("SLURM_JOB_ID")) return settings;
  for (const auto& [variable, key] : known)
    if (auto value = environment(variable))
      settings.push_back({std::string(key), std::move(*value), std::string(variable)});
  return settings;
}

}  // namespace parajoule::measure
