#pragma once

// What a model is worth: its metrics over a whole set of samples.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "nn/net.h"
#include "nn/precision.h"
#include "nn/task.h"

namespace parajoule::train {

/// Evaluates in fixed chunks of samples, dealt whole to the ranks; scores are added up in the order
/// of the samples within a chunk and chunk after chunk, so that the result is the same to the last
/// digit for any number of ranks.
class Evaluation {
 public:
  struct Options {
    std::int64_t chunk_size = 500;
    data::View view;
    nn::Precision precision = nn::Precision::float32;
    data::Loader::Options loader = {};
  };

  Evaluation(comm::Communicator& group, const data::Dataset& dataset, const nn::Task& task,
             const Options& options)
      : group_(group), dataset_(dataset), task_(task), options_(options) {}

  /// What happens on this rank between its chunks.
  struct Between {
    std::function<bool()> interrupted;                      ///< if so on any, nobody gets a result
    std::function<void(const data::Loader::Batch&)> taken;  ///< told of each batch that is read
  };

  /// For each metric of the task the sum over all samples, equal on all ranks.
  std::optional<std::vector<nn::Score>> run(nn::Net& net, const Between& between);

 private:
  void add_chunk(nn::Net& net, const data::Loader::Batch& batch, base::Vector sums) const;

  comm::Communicator& group_;
  const data::Dataset& dataset_;
  const nn::Task& task_;
  Options options_;
};

}  // namespace parajoule::train
