#pragma once

// An experiment with nothing unset: what `cli/` made of the file and the command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/settings.h"
#include "data/loader.h"

namespace parajoule::train {

/// A name out of a catalog with its options.
struct Choice {
  std::string name;
  base::Settings settings;
};

/// A row of the record's `setting` table.
struct Setting {
  std::string key;     ///< "epochs", "local_sgd.period"
  std::string value;   ///< as written in an experiment file
  std::string origin;  ///< default, recipe, file, command line, or what it follows from
};

/// Whose running statistics are evaluated.
enum class Buffers : std::uint8_t { mean, first };

/// What becomes of a parameter that gets no gradient in a pass.
enum class OnNoGradient : std::uint8_t { abort, zero };

struct Experiment {
  std::string name = "experiment";
  std::uint64_t seed = 0;

  Choice model;      ///< nn/
  Choice data;       ///< data/
  Choice strategy;   ///< strategy/; its settings hold those of the overlap
  Choice overlap;    ///< strategy/; of strategies that sum gradients in the pass
  Choice sum;        ///< comm/
  Choice optimizer;  ///< optimize/
  Choice schedule;   ///< train/, of the learning rate

  std::int64_t epochs = 1;
  std::optional<std::int64_t> steps;  ///< of one rank; ends training even within an epoch
  int ranks = 1;
  std::optional<int> ranks_per_node;  ///< pretended nodes, for tests
  std::int64_t local_batch_size = 64;
  std::int64_t global_batch_size = 64;  ///< local batch size times ranks that train
  std::int64_t evaluation_batch_size = 500;
  bool evaluate_training_set = false;  ///< the whole of it, after every epoch, beside validation
  bool augment_validation = false;     ///< random views in validation too, as the study did
  double learning_rate = 0.1;          ///< at the reference batch size
  std::int64_t reference_batch_size = 64;  ///< linear scaling: rate x GBS / reference

  std::string precision = "float32";  ///< float64, float32, bfloat16, float16
  Buffers buffers = Buffers::mean;
  std::int64_t settling_steps = 0;  ///< left out of the second set of numbers
  data::OnBadSample on_bad_sample = data::OnBadSample::abort;
  OnNoGradient on_no_gradient = OnNoGradient::abort;
  std::int64_t checkpoint_every_steps = 0;  ///< 0: at the end and when stopped
  base::Seconds stall{60};
  base::Seconds give_up{600};
  bool check_collectives = false;

  int threads = 1;  ///< of BLAS and torch, for each rank
  int loader_threads = 1;
  std::string meter_profile = "plain";  ///< plain, study
  double sampling_hertz = 10;
  std::string records = "records";          ///< folder of run records
  std::string checkpoints = "checkpoints";  ///< folder of the checkpoints

  std::string command = "";            ///< the command line, for the record
  std::string folder = "";             ///< of this run: its checkpoints and the notes of its ranks
  std::vector<Setting> settings = {};  ///< everything that was set, and where it came from
};

}  // namespace parajoule::train
