#include "measure/job.h"

#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/slurm_energy.h"
#include "store/test_record.h"

namespace parajoule::measure {
namespace {

using testing::ElementsAre;
using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

Environment made_up(std::map<std::string, std::string, std::less<>> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

TEST(Job, APersonsCommandIsNoTask) {
  EXPECT_FALSE(task_in(made_up({})));
  // A batch script, and a step of one task.
  EXPECT_FALSE(task_in(made_up({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}})));
  EXPECT_FALSE(task_in(made_up({{"SLURM_JOB_ID", "1"},
                                {"SLURM_STEP_ID", "0"},
                                {"SLURM_PROCID", "0"},
                                {"SLURM_STEP_NUM_TASKS", "1"}})));
  EXPECT_FALSE(task_in(made_up({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}})));
}

std::map<std::string, std::string, std::less<>> srun_task(std::string rank, std::string node) {
  return {{"SLURM_JOB_ID", "17"},           {"SLURM_STEP_ID", "3"},
          {"SLURM_PROCID", rank},           {"SLURM_STEP_NUM_TASKS", "5"},
          {"SLURM_STEP_NUM_NODES", "3"},    {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
          {"SLURM_NODEID", std::move(node)}};
}

TEST(Job, SrunTellsWhichTasksShareANode) {
  const auto task = task_in(made_up(srun_task("4", "2")));
  ASSERT_TRUE(task);
  EXPECT_EQ(task->rank, 4);
  EXPECT_EQ(task->ranks, 5);
  EXPECT_EQ(task->on_node, 1);
  EXPECT_EQ(task->nodes, 3);
  const auto other = task_in(made_up(srun_task("0", "0")));
  EXPECT_EQ(other->job, task->job);
  EXPECT_EQ(other->on_node, 2);
}

TEST(Job, StepsOfOneJobAreApart) {
  auto later = srun_task("4", "2");
  later["SLURM_STEP_ID"] = "4";
  EXPECT_NE(task_in(made_up(later))->job, task_in(made_up(srun_task("4", "2")))->job);
}

TEST(Job, MpirunsTasksHaveItsJob) {
  const auto task = task_in(made_up({{"OMPI_COMM_WORLD_RANK", "3"},
                                     {"OMPI_COMM_WORLD_SIZE", "4"},
                                     {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                     {"PMIX_NAMESPACE", "2345"}}));
  ASSERT_TRUE(task);
  EXPECT_THAT(task->job, HasSubstr("2345"));
  EXPECT_EQ(task->rank, 3);
  EXPECT_EQ(task->on_node, 2);
}

TEST(Job, MpichsTasksHaveItsJob) {
  const auto task =
      task_in(made_up({{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "4"}}));
  ASSERT_TRUE(task);
  EXPECT_EQ(task->ranks, 4);
  EXPECT_EQ(task->on_node, 4);
}

TEST(Job, TasksOfNodesAreReadAsSlurmWritesThem) {
  EXPECT_THAT(tasks_of_nodes("2(x3),1"), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(tasks_of_nodes("16"), ElementsAre(16));
  for (const char* bad : {"", "x", "2(x", "2(x3", "(x3)", "2(x-1)", "-2", "2(x99999999)", "2(xa)"})
    EXPECT_THAT(tasks_of_nodes(bad), IsEmpty()) << bad;
}

TEST(Job, SlurmsWordsAreKept) {
  EXPECT_THAT(slurm_settings(made_up({{"SLURM_JOB_ACCOUNT", "physics"}})), IsEmpty());
  const auto settings = slurm_settings(
      made_up({{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_ACCOUNT", "physics"}, {"SLURM_STEP_ID", "3"}}));
  EXPECT_THAT(settings,
              ElementsAre(store::Setting{"slurm.job_id", "17", "SLURM_JOB_ID"},
                          store::Setting{"slurm.step_id", "3", "SLURM_STEP_ID"},
                          store::Setting{"slurm.account", "physics", "SLURM_JOB_ACCOUNT"}));
}

TEST(Job, NodesAndGpusOfTheJobAreKept) {
  const auto settings = slurm_settings(made_up({{"SLURM_JOB_ID", "17"},
                                                {"SLURM_JOB_NODELIST", "n[01-03,17]"},
                                                {"SLURM_JOB_NUM_NODES", "4"},
                                                {"SLURM_GPUS_ON_NODE", "2"},
                                                {"SLURM_JOB_GPUS", "0,3"}}));
  EXPECT_THAT(settings,
              ElementsAre(store::Setting{"slurm.job_id", "17", "SLURM_JOB_ID"},
                          store::Setting{"slurm.nodes", "n[01-03,17]", "SLURM_JOB_NODELIST"},
                          store::Setting{"slurm.number_of_nodes", "4", "SLURM_JOB_NUM_NODES"},
                          store::Setting{"slurm.gpus_on_node", "2", "SLURM_GPUS_ON_NODE"},
                          store::Setting{"slurm.gpus", "0,3", "SLURM_JOB_GPUS"}));
}

/// A program that stands in for sacct.
class Sacct : public testing::Test {
 protected:
  std::optional<double> answering(const std::string& script) {
    const std::filesystem::path file = folder_.path() / "sacct";
    std::filesystem::remove(file);
    std::ofstream(file) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    const auto energy = slurm_energy("17", "3", file);
    return energy ? std::optional(energy->value) : std::nullopt;
  }

 private:
  store::TemporaryFolder folder_;
};

TEST_F(Sacct, TellsTheEnergyOfTheStep) {
  EXPECT_THAT(answering("test \"$4\" = 17.3 && echo 4321\n"), Optional(Eq(4321)));
}

TEST_F(Sacct, HasNoNumberWhereNothingCounts) {
  for (const char* script : {"echo 0\n", "echo\n", "exit 1\n", "echo sacct: error: no >&2\n",
                             "echo 18446744073709551614\n", "echo N/A\n", "kill -9 $$\n"})
    EXPECT_EQ(answering(script), std::nullopt) << script;
  EXPECT_EQ(slurm_energy("17", "3", "/no/such/sacct"), std::nullopt);
}

TEST_F(Sacct, IsNotWaitedForEndlessly) { EXPECT_EQ(answering("exec sleep 100\n"), std::nullopt); }

}  // namespace
}  // namespace parajoule::measure
