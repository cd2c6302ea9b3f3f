#include "cli/surroundings.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Environment with(Variables variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return {};
    return found->second;
  };
}

const Variables slurm_step = {{"SLURM_PROCID", "3"},
                              {"SLURM_STEP_ID", "0"},
                              {"SLURM_STEP_NUM_TASKS", "4"},
                              {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};

TEST(Place, NobodyStartedUs) { EXPECT_EQ(place_in(with({})), std::nullopt); }

TEST(Place, UnderMpirun) {
  const auto place = place_in(with({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->rank, 1);
  EXPECT_EQ(place->ranks, 2);
}

TEST(Place, UnderSrunWithPmix) {
  Variables variables = slurm_step;
  variables["PMIX_RANK"] = "3";
  const auto place = place_in(with(variables));
  ASSERT_TRUE(place);
  EXPECT_EQ(place->starter, "srun");
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->ranks, 4);
}

TEST(Place, AnSrunThatStartsSingletonsIsRefusedWithTheRemedy) {
  try {
    place_in(with(slurm_step));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), testing::HasSubstr("--mpi=pmix"));
    EXPECT_THAT(error.what(), testing::HasSubstr("4 tasks"));
  }
}

TEST(Place, AStepOfOneTaskIsAPerson) {
  // srun --pty bash, or the shell of an interactive salloc.
  EXPECT_EQ(place_in(with({{"SLURM_PROCID", "0"},
                           {"SLURM_STEP_ID", "0"},
                           {"SLURM_STEP_NUM_TASKS", "1"},
                           {"SLURM_NTASKS", "2"},
                           {"PMIX_RANK", "0"}})),
            std::nullopt);
}

TEST(Place, ABatchScriptIsAPerson) {
  EXPECT_EQ(place_in(with({{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}})),
            std::nullopt);
}

TEST(Place, UnderHydra) {
  EXPECT_EQ(place_in(with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}))->rank, 1);
}

TEST(Place, UnderTorchrunIsRefusedWithTheWayOut) {
  try {
    place_in(with({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), testing::HasSubstr("torchrun"));
    EXPECT_THAT(error.what(), testing::HasSubstr("--ranks 2"));
  }
  EXPECT_EQ(place_in(with({{"RANK", "0"}, {"WORLD_SIZE", "1"}})), std::nullopt);
  EXPECT_EQ(place_in(with({{"RANK", "0"}})), std::nullopt);
}

TEST(Place, OneOfThoseStartedTogetherSpeaks) {
  EXPECT_TRUE(speaks_for_all(with({})));
  EXPECT_TRUE(speaks_for_all(with({{"SLURM_PROCID", "0"}})));
  EXPECT_FALSE(speaks_for_all(with(slurm_step)));
  // In a batch script, which has a SLURM_PROCID of its own, mpirun started this.
  EXPECT_FALSE(speaks_for_all(with({{"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_RANK", "1"}})));
}

TEST(MostOnANode, IsWhatSlurmHandsOut) {
  const auto most = [](int ranks, const std::string& nodes, const std::string& slots) {
    return most_on_a_node(with({{"SLURM_JOB_NUM_NODES", nodes}, {"SLURM_TASKS_PER_NODE", slots}}),
                          ranks);
  };
  EXPECT_EQ(most(8, "4", "2(x4)"), 2);
  EXPECT_EQ(most(8, "4", "1,12(x2),1"), 8);
  EXPECT_EQ(most(8, "3", "1,4(x2)"), 4);
  EXPECT_EQ(most(8, "4", "1(x4)"), 2);  // more ranks than slots
  EXPECT_EQ(most(8, "1", "2"), 8);
  EXPECT_EQ(most_on_a_node(with({}), 8), 8);
}

}  // namespace
}  // namespace parajoule::cli
