#pragma once

// Whole runs, small, for the tests of train/: ranks are threads.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"
#include "comm/threads.h"
#include "data/catalog.h"
#include "nn/catalog.h"
#include "optimize/catalog.h"
#include "store/reader.h"
#include "strategy/catalog.h"
#include "train/checkpoint_file.h"
#include "train/learning_rate.h"
#include "train/train.h"

namespace parajoule::train {

namespace fs = std::filesystem;
using Given = std::map<std::string, base::Value>;

/// A choice with some options given and the others as they are.
template <class Entry>
Choice choice(const Entry& entry, const Given& given = {}) {
  return {.name = std::string(entry.name),
          .settings = base::Settings(entry.name, entry.options, given)};
}

/// Gives each test a folder of its own.
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
    made.strategy = choice(strategy::methods().front());
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
    return run_asking(made, ranks, [&](int) { return asked_to_stop(); });
  }

  /// `asked_to_stop` is given the rank that asks.
  Result run_asking(const Experiment& made, int ranks,
                    const std::function<bool(int)>& asked_to_stop) const {
    Result result;
    comm::Threads(ranks).run([&](comm::Communicator& world) {
      Reporter quiet;
      const Outcome outcome =
          train::run(made, world, quiet, [&] { return asked_to_stop(world.rank()); });
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

  /// Removes the checkpoint that a run has left at its end, so that the one before it is the
  /// newest.
  static void forget_the_end(const Experiment& made, std::int64_t number) {
    const std::string name = std::to_string(number) + ".";
    for (const auto& entry : fs::directory_iterator(made.folder))
      if (entry.path().filename().string().starts_with(name)) fs::remove(entry.path());
  }

  /// 250 pictures of 8 x 8 in four classes, as IDX files; 40 more to evaluate.
  Choice small_pictures() const {
    const fs::path folder = folder_ / "pictures";
    fs::create_directories(folder);
    for (const auto& [part, count] : {std::pair("train", 250), std::pair("t10k", 40)}) {
      base::Stream stream = base::stream(1, base::Purpose::weights, std::uint64_t(count));
      std::string images = header({count, 8, 8}), labels = header({count});
      for (int sample = 0; sample < count; ++sample) {
        labels += char(sample % 4);
        for (int pixel = 0; pixel < 64; ++pixel)
          images += char(40 * (sample % 4) + int(stream.below(60)) + pixel % (sample % 4 + 1) * 9);
      }
      std::ofstream(folder / (part + std::string("-images-idx3-ubyte"))) << images;
      std::ofstream(folder / (part + std::string("-labels-idx1-ubyte"))) << labels;
    }
    return choice(data::kind("idx"), {{"folder", folder.string()}});
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("parajoule-train-test-" + std::to_string(getpid()));

 private:
  static std::string header(const std::vector<int>& extents) {
    std::string bytes = {0, 0, 8, char(extents.size())};
    for (const int extent : extents)
      for (const int shift : {24, 16, 8, 0}) bytes += char(extent >> shift);
    return bytes;
  }
};

}  // namespace parajoule::train
