// Runs that stop and go on.

#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/small_run.h"

namespace parajoule::train {
namespace {

TEST_F(Train, ResumesBitForBitWithAllThatARunCarriesAlong) {
  Experiment whole = experiment("whole");
  whole.data = small_pictures();
  whole.model = choice(nn::model("resnet20"), {{"width", std::int64_t(2)}});
  whole.optimizer = choice(optimize::optimizer("adam"));
  whole.schedule = choice(train::schedule("plateau"), {{"patience", std::int64_t(0)}});
  whole.precision = "float32";
  whole.epochs = 6;  // of five steps, the last of each with ten samples
  whole.steps.reset();
  Experiment halves = whole;
  const Result uninterrupted = run(whole, 2);
  halves.name = "halves";
  halves.folder = (folder_ / "halves").string();
  int questions = 0;  // asked once a step and rank, and at each end of an epoch
  const Result stopped = run(halves, 2, [&] { return ++questions > 60; });
  ASSERT_TRUE(stopped.outcome.stopped);
  ASSERT_GT(stopped.outcome.steps, 10);
  const Result resumed = run(halves, 2);
  EXPECT_EQ(resumed.outcome.steps, 30);
  ASSERT_EQ(resumed.weights.size(), uninterrupted.weights.size());
  for (const auto& [name, entry] : uninterrupted.weights)
    EXPECT_EQ(resumed.weights.at(name).bytes, entry.bytes) << name;
}

TEST_F(Train, GoesOnWithAnyRanksFromASynchronousCheckpoint) {
  Experiment whole = experiment("whole");
  whole.data = small_pictures();
  whole.epochs = 4;  // of five steps
  const Result uninterrupted = run(whole, 4);
  for (const int ranks : {1, 2, 3, 8}) {
    Experiment halves = whole;
    halves.folder = (folder_ / std::to_string(ranks)).string();
    halves.checkpoint_every_steps = 9;
    run(halves, 4);
    forget_the_end(halves, 24);
    const Result resumed = run(halves, ranks);
    EXPECT_LT(largest_difference(uninterrupted.weights, resumed.weights), 1e-12) << ranks;
  }
}

// Replicas that differ have no successors among other ranks: the weights that are evaluated go on.
TEST_F(Train, GoesOnWithOtherRanksFromTheMeanOfReplicasThatDiffer) {
  Experiment made = experiment("apart");
  made.strategy = choice(strategy::method("local_sgd"), {{"period", std::int64_t(7)}});
  made.checkpoint_every_steps = 9;  // two steps after the last mean
  run(made, 2);
  forget_the_end(made, 21);
  const auto stored = read_archive(fs::path(made.folder) / "18.ckpt").part("evaluated");

  made.steps = 18;  // nothing is left but to evaluate and to save
  const Result resumed = run(made, 3);
  const auto& evaluated = stored.entries();
  EXPECT_LT(largest_difference(resumed.weights, {evaluated.begin(), evaluated.end()}), 1e-15);
  const store::Reader record(resumed.outcome.record);
  const auto notes = record.rows<store::Note>();
  EXPECT_TRUE(std::ranges::any_of(notes, [](const store::Note& note) {
    return note.text.starts_with("the checkpoint is of 2 ranks, now 3: ");
  }));
}

TEST_F(Train, RefusesACheckpointOfAnotherExperiment) {
  Experiment made = experiment("mixed");
  made.steps = 2;
  run(made, 1);
  made.model = choice(nn::model("mlp"), {{"hidden", std::vector<std::int64_t>{8}}});
  try {
    run(made, 1);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_NE(std::string(error.what()).find("model was 'mlp hidden=[16]"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace parajoule::train
