#pragma once

// Keeps the record of a run: rows of all ranks, and the meter of every node.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "comm/communicator.h"
#include "meter/sampler.h"
#include "nn/task.h"
#include "store/record.h"
#include "train/experiment.h"
#include "train/phases.h"
#include "train/reporter.h"
#include "train/rows.h"

namespace parajoule::train {

/// One on each rank. Rank 0 writes the record; the first rank of each node (by boot id) reads the
/// node's meters, whatever the number of ranks. All members are called by the training thread.
class Recorder {
 public:
  /// Collective. Opens the record on rank 0 and starts the meters.
  Recorder(const Experiment& experiment, comm::Communicator& group, Reporter& reporter);
  ~Recorder();

  /// One step of this rank and the phases that ended since the last call. Does not wait.
  void step(store::Step row, const std::vector<Phases::Interval>& phases);

  /// Metrics of one evaluation, on rank 0.
  void metrics(std::int64_t epoch, std::string_view set, const std::vector<nn::Metric>& metrics,
               const std::vector<nn::Score>& scores);

  void note(store::Severity severity, std::string_view text);

  /// Collective. Returns when everything so far is in the file.
  void write();

  /// Collective, the last call of a run that ends well or is stopped.
  void finish(store::State state, std::string_view why);

  /// Phases outside of steps. Does not wait.
  void phases(const std::vector<Phases::Interval>& phases);

  /// The last call of a run that went wrong. Not collective: the others may be gone.
  void fail(std::string_view why) noexcept;

  /// Seconds on the record's clock, on every rank.
  base::Seconds now() const { return monotonic_now() - origin_; }

  /// Energy of this node so far, for the live line.
  LiveEnergy energy() const;

  const std::string& path() const { return path_; }

 private:
  void open_record(const Experiment& experiment);
  void agree_on_origin();
  void start_meter(const Experiment& experiment);
  void take_readings(std::span<const meter::Row> sampled);
  void send_readings();
  void write_rows(Rows rows);
  void say_cost();

  comm::Communicator& group_;
  Reporter& reporter_;
  std::optional<store::Record> record_;  ///< on rank 0
  std::string path_;
  base::Seconds origin_{0};  ///< of the record, on this rank's monotonic clock
  std::optional<RowStream> stream_;
  std::mutex mutex_;
  std::vector<store::Reading> readings_;  ///< of this node, not yet on their way; under mutex_
  int first_source_ = 0;
  std::vector<meter::Description> descriptions_;  ///< of this node's sources
  std::unique_ptr<meter::Sampler> sampler_;       ///< on owners of a node; last, so it stops first
};

}  // namespace parajoule::train
