// Whole runs, small: ranks are threads, the data are real.
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/small_run.h"

namespace parajoule::train {
namespace {

TEST_F(Train, RanksAgreeWithOneRankAtEqualGlobalBatch) {
  Experiment made = experiment("one");
  made.steps = 50;
  const Result alone = run(made, 1);
  EXPECT_LT(alone.metrics.front().numerator / alone.metrics.front().denominator, 2.0);
  for (int ranks : {2, 4}) {
    made.folder = (folder_ / std::to_string(ranks)).string();
    const Result together = run(made, ranks);
    EXPECT_LT(largest_difference(alone.weights, together.weights), 1e-10) << ranks;
    EXPECT_EQ(together.steps.size(), 50u * ranks);
  }
}

TEST_F(Train, ErrorIsTheSameToTheLastDigitForAnyNumberOfRanks) {
  Experiment made = experiment("stopped");
  const Result stopped = run(made, 2, [] { return true; });
  ASSERT_TRUE(stopped.outcome.stopped);
  made.steps = stopped.outcome.steps;  // nothing is left but the evaluation
  std::vector<std::vector<store::Epoch>> metrics;
  for (int ranks : {1, 2, 3, 7}) {
    Experiment again = made;
    again.folder = (folder_ / ("again" + std::to_string(ranks))).string();
    fs::copy(made.folder, again.folder);
    const Result evaluated = run(again, ranks);
    EXPECT_TRUE(evaluated.steps.empty());
    metrics.push_back(evaluated.metrics);
  }
  ASSERT_EQ(metrics[0].size(), 3u);
  for (const auto& other : metrics) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(other[i].metric, metrics[0][i].metric);
      EXPECT_EQ(other[i].numerator, metrics[0][i].numerator);
      EXPECT_EQ(other[i].denominator, 10000);
    }
  }
}

TEST_F(Train, EndsWhenALossIsNoNumber) {
  Experiment made = experiment("diverging");
  made.learning_rate = 1e200;
  try {
    run(made, 2);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::not_a_number);
    EXPECT_NE(std::string(error.what()).find("the loss is not a number in step"),
              std::string::npos);
  }
}

TEST_F(Train, EvaluatesTheStatisticsAndViewsThatWereAskedFor) {
  Experiment made = experiment("study");
  made.data = choice(data::kind("fashion_mnist"), {{"flip", true}});
  made.model = choice(nn::model("resnet20"), {{"width", std::int64_t(2)}});
  made.precision = "float32";
  made.steps = 3;
  const auto loss = [&](Buffers buffers, bool augmented) {
    made.folder = (folder_ / std::to_string(2 * int(buffers) + augmented)).string();
    made.buffers = buffers;
    made.augment_validation = augmented;
    return run(made, 2).metrics.front().numerator;
  };
  const double usual = loss(Buffers::mean, false);
  EXPECT_NE(loss(Buffers::first, false), usual);
  EXPECT_NE(loss(Buffers::mean, true), usual);
}

/// Trains until the run is stopped, and then one step more at another rate.
class TrainOneStepMore : public Train {
 protected:
  Experiment stopped() const {
    Experiment made = experiment("diverging");
    const Result first = run(made, 2, [] { return true; });
    EXPECT_TRUE(first.outcome.stopped);
    made.steps = first.outcome.steps + 1;
    return made;
  }

  static std::vector<std::string> checkpoints_in(const fs::path& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().filename() != "records") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  void expect_no_number(
      const Experiment& made, const std::string& of_what,
      const AskedToStop& asked_to_stop = [] { return false; }) const {
    const auto before = checkpoints_in(made.folder);
    try {
      run(made, 2, asked_to_stop);
      ADD_FAILURE() << "it ended well";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::not_a_number);
      EXPECT_NE(std::string(error.what()).find(of_what), std::string::npos) << error.what();
    }
    EXPECT_EQ(checkpoints_in(made.folder), before) << "the last good checkpoint stays the newest";
  }
};

TEST_F(TrainOneStepMore, ALastUpdateThatDivergesIsSeenInTheEvaluation) {
  Experiment made = stopped();
  made.learning_rate = 1e200;
  expect_no_number(made, "the loss on the validation set is not a number after step");
}

TEST_F(TrainOneStepMore, WeightsThatAreNoNumbersAreNotKept) {
  Experiment made = stopped();
  made.learning_rate = 1e308;
  made.reference_batch_size = 1;  // the rate is sixty times as high: no number any more
  expect_no_number(made, "the weights are not numbers after step", [] { return true; });
}

TEST_F(Train, SaysWhatComputes) {
  Experiment made = experiment("found");
  made.steps = 1;
  const store::Reader record(run(made, 1).outcome.record);
  for (const char* key : {"libtorch", "blas", "blas_kernel", "onednn"})
    EXPECT_NE(record.setting(key).value_or(""), "") << key;
}

}  // namespace
}  // namespace parajoule::train
