// Whole runs, small: ranks are threads, the data are real.
#include "train/train.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/solo.h"
#include "comm/threads.h"
#include "data/catalog.h"
#include "nn/catalog.h"
#include "optimize/catalog.h"
#include "store/reader.h"
#include "strategy/catalog.h"
#include "train/checkpoint_file.h"
#include "train/learning_rate.h"

namespace parajoule::train {
namespace {

namespace fs = std::filesystem;
using Given = std::map<std::string, base::Value>;

/// A choice with some options given and the others as they are.
template <class Entry>
Choice choice(const Entry& entry, const Given& given = {}) {
  return {.name = std::string(entry.name),
          .settings = base::Settings(entry.name, entry.options, given)};
}

class Train : public testing::Test {
 protected:
  Train() { fs::create_directories(folder_); }
  ~Train() override { fs::remove_all(folder_); }

  /// Twenty steps of a small net without normalisation, in double precision.
  Experiment experiment(std::string_view name) const {
    Experiment made;
    made.name = name;
    made.model = choice(nn::model("mlp"), {{"hidden", std::vector<std::int64_t>{16}}});
    made.data = choice(data::kind("fashion_mnist"));
    made.strategy = choice(strategy::method("synchronous"));
    made.optimizer = choice(optimize::optimizer("sgd"), {{"momentum", 0.9}});
    made.schedule = choice(train::schedule("constant"));
    made.precision = "float64";
    made.steps = 20;
    made.global_batch_size = made.reference_batch_size = 60;
    made.evaluation_batch_size = 1000;
    made.learning_rate = 0.02;
    made.seed = 3;
    made.records = (folder_ / "records").string();
    made.folder = (folder_ / std::string(name)).string();
    return made;
  }

  struct Result {
    Outcome outcome;
    std::map<std::string, base::Archive::Entry> weights;  ///< of the last checkpoint
    std::vector<store::Epoch> metrics;
    std::vector<store::Step> steps;
  };

  Result run(
      const Experiment& made, int ranks,
      const AskedToStop& asked_to_stop = [] { return false; }) const {
    Result result;
    comm::Threads(ranks).run([&](comm::Communicator& world) {
      Reporter quiet;
      const Outcome outcome = train::run(made, world, quiet, asked_to_stop);
      if (world.rank() == 0) result.outcome = outcome;
    });
    const store::Reader record(result.outcome.record);
    result.metrics = record.rows<store::Epoch>();
    result.steps = record.rows<store::Step>();
    result.weights = weights_in(made.folder);
    return result;
  }

  static std::map<std::string, base::Archive::Entry> weights_in(const fs::path& folder) {
    std::int64_t newest = -1;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".ckpt" && !entry.path().stem().has_extension())
        newest = std::max<std::int64_t>(newest, std::stoll(entry.path().stem().string()));
    const auto archive = read_archive(folder / (std::to_string(newest) + ".ckpt"));
    const auto entries = archive.part("model").entries();
    return {entries.begin(), entries.end()};
  }

  static double largest_difference(const std::map<std::string, base::Archive::Entry>& a,
                                   const std::map<std::string, base::Archive::Entry>& b) {
    double largest = 0;
    EXPECT_EQ(a.size(), b.size());
    for (const auto& [name, entry] : a) {
      const auto* x = reinterpret_cast<const double*>(entry.bytes.data());
      const auto* y = reinterpret_cast<const double*>(b.at(name).bytes.data());
      for (std::size_t i = 0; i < entry.bytes.size() / sizeof(double); ++i)
        largest = std::max(largest, std::abs(x[i] - y[i]));
    }
    return largest;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("parajoule-train-test-" + std::to_string(getpid()));
};

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

TEST_F(Train, ResumesBitForBitWithTheSameRanks) {
  for (const char* method : {"synchronous", "local_sgd"}) {
    Experiment whole = experiment(std::string("whole-") + method);
    whole.strategy = choice(strategy::method(method));
    const Result uninterrupted = run(whole, 2);

    Experiment halves = experiment(std::string("halves-") + method);
    halves.strategy = choice(strategy::method(method));
    halves.checkpoint_every_steps = 9;
    run(halves, 2);
    // Back to the checkpoint in the middle.
    for (const auto& entry : fs::directory_iterator(halves.folder))
      if (entry.path().filename().string().starts_with("21.")) fs::remove(entry.path());
    const Result resumed = run(halves, 2);
    EXPECT_EQ(resumed.steps.size(), 2u * 2) << method;
    EXPECT_EQ(largest_difference(uninterrupted.weights, resumed.weights), 0) << method;
  }
}

TEST_F(Train, GoesOnWithOtherRanksFromASynchronousCheckpoint) {
  Experiment whole = experiment("whole");
  const Result uninterrupted = run(whole, 2);
  Experiment halves = experiment("halves");
  halves.checkpoint_every_steps = 9;
  run(halves, 2);
  for (const auto& entry : fs::directory_iterator(halves.folder))
    if (entry.path().filename().string().starts_with("21.")) fs::remove(entry.path());
  const Result resumed = run(halves, 3);
  EXPECT_LT(largest_difference(uninterrupted.weights, resumed.weights), 1e-12);
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

TEST_F(Train, ALastBatchSmallerThanTheRanksIsTakenByAll) {
  Experiment made = experiment("uneven");
  made.global_batch_size = made.reference_batch_size = 19999;  // leaves 3 samples for 4 ranks
  made.steps.reset();
  const Result result = run(made, 4);
  ASSERT_EQ(result.steps.size(), 4u * 4);
  std::int64_t samples = 0, none = 0;
  for (const store::Step& step : result.steps) {
    samples += step.samples;
    none += step.samples == 0;
    EXPECT_EQ(std::isnan(step.loss), step.samples == 0);
  }
  EXPECT_EQ(samples, 60000);
  EXPECT_EQ(none, 1);
}

TEST_F(Train, TakesRunningStatisticsAndViewsAsTheStudyDid) {
  Experiment made = experiment("study");
  made.model = choice(nn::model("resnet20"), {{"width", std::int64_t(2)}});
  made.precision = "float32";
  made.steps = 3;
  made.buffers = Buffers::first;
  made.augment_validation = true;
  const Result result = run(made, 2);
  EXPECT_EQ(result.metrics.size(), 3u);
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

  static std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  void expect_no_number(
      const Experiment& made, const std::string& of_what,
      const AskedToStop& asked_to_stop = [] { return false; }) const {
    const auto before = files_in(made.folder);
    try {
      run(made, 2, asked_to_stop);
      ADD_FAILURE() << "it ended well";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::not_a_number);
      EXPECT_NE(std::string(error.what()).find(of_what), std::string::npos) << error.what();
    }
    EXPECT_EQ(files_in(made.folder), before) << "the last good checkpoint stays the newest";
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
