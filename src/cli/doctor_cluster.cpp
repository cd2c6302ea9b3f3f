#include <fmt/format.h>

#include "cli/doctor.h"

namespace parajoule::cli {

using State = Finding::State;

/// Only inside a job: elsewhere there is nothing to say.
Findings cluster_findings(const Patient& patient) {
  const auto job = patient.environment("SLURM_JOB_ID");
  if (!job) return {};
  const auto value = [&](std::string_view name) {
    return patient.environment(name).value_or("not told");
  };
  const bool in_step = patient.environment("SLURM_STEP_ID").has_value();
  const std::string nodes = value("SLURM_JOB_NUM_NODES");
  Findings findings = {
      {State::ok, "Slurm",
       fmt::format("job {} on {} nodes ({}), {}", *job, nodes, value("SLURM_JOB_NODELIST"),
                   in_step ? "in a step started by srun" : "in the batch script")}};
  if (!in_step && nodes != "1" && nodes != "not told")
    findings.push_back({State::worth_knowing, "Slurm",
                        "the batch script runs on the first node alone: what is metered from here "
                        "is that node",
                        "srun --ntasks-per-node=1 parajoule measure -- COMMAND"});
  if (!patient.environment("SLURM_CPUS_PER_TASK") && patient.processors.size() == 1)
    findings.push_back({State::worth_knowing, "Slurm",
                        "one processor for each task, as none were asked for",
                        "srun --cpus-per-task=N"});
  return findings;
}

}  // namespace parajoule::cli
