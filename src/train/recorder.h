#pragma once

// Keeps the record of a run: rows of all ranks, and the meter of every node.

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "comm/communicator.h"
#include "data/loader.h"
#include "meter/open.h"
#include "meter/sampler.h"
#include "store/record.h"
#include "train/bad_samples.h"
#include "train/experiment.h"
#include "train/hardware.h"
#include "train/merged_phases.h"
#include "train/phases.h"
#include "train/place.h"
#include "train/reporter.h"
#include "train/rows.h"

namespace parajoule::train {

/// One on each rank. Rank 0 writes the record; the first rank of each node (by boot id) reads the
/// node's meters, whatever the number of ranks. All members are called by the training thread.
class Recorder {
 public:
  /// Collective. Opens the record on rank 0 and starts the meters.
  Recorder(const Experiment& experiment, comm::Communicator& group, Reporter& reporter,
           const Hardware& hardware = {});
  ~Recorder();

  /// What was not set but found, and by rank 0: a row of the record's settings.
  void found(std::string_view key, std::string_view value);

  /// One step of this rank and the phases that ended since the last call. Does not wait.
  void step(store::Step row, const std::vector<Phases::Interval>& phases);

  /// Phases outside of steps. Does not wait.
  void phases(const std::vector<Phases::Interval>& phases);

  /// Moves on what waits to be written. Does not wait: call it wherever much time passes.
  void move();

  /// One evaluation, on rank 0.
  void evaluated(const std::vector<store::Epoch>& rows);

  /// Samples of a batch that could not be read, or had to be mended.
  void damage(const data::Loader::Batch& batch);

  void note(store::Severity severity, std::string_view text);

  /// Collective. Returns when everything so far is in the file.
  void write();

  /// Collective, the last call of a run that ends well or is stopped.
  void finish(store::State state, std::string_view why);

  /// The last call of a run that went wrong. Not collective: the others may be gone.
  void fail(std::string_view why) noexcept;

  /// Seconds on the record's clock, on every rank.
  base::Seconds now() const { return monotonic_now() - origin_; }

  /// Of all nodes so far, for the live line: on rank 0. Of other nodes as they last told.
  LiveEnergy energy() const;

  const std::string& path() const { return path_; }

 private:
  /// Opens the record on rank 0; its origin on this rank's clock.
  base::Seconds begin(const Experiment& experiment);
  void open_record(const Experiment& experiment);
  /// Says in the record where its checkpoints lie, and which record it goes on from.
  void place_in_training(const std::filesystem::path& run_folder);
  base::Seconds agree_on_origin();
  /// Collective. Gives numbers to so many sources of this rank.
  int number_sources(std::size_t own);
  void tell_hardware(const Machine& machine, const meter::Opened& opened);
  void join_wall_meters();
  void start_meter(const Experiment& experiment, const Hardware& hardware);
  void start_sampler(std::vector<std::unique_ptr<meter::Source>> sources, double hertz);
  void take_readings(std::span<const meter::Row> sampled);
  void gather_readings();
  void add_note(store::Severity severity, std::string text);
  void write_rows(Rows rows);
  void say_cost();
  LiveEnergy own_energy() const;

  comm::Communicator& group_;
  Reporter& reporter_;
  Place place_;
  std::optional<store::Record> record_;  ///< on rank 0
  std::string path_;
  base::Seconds origin_;  ///< of the record, on this rank's monotonic clock
  RowStream stream_;
  MergedPhases merged_;
  BadSamples bad_samples_;               ///< of all ranks, on rank 0
  std::map<int, LiveEnergy> elsewhere_;  ///< by node, on rank 0
  std::mutex mutex_;
  std::vector<store::Reading> readings_;     ///< of this node, not yet on their way; under mutex_
  std::vector<std::filesystem::path> wall_;  ///< files of this node's wall meters, on its owner
  int first_source_ = 0;
  int numbered_ = 0;                              ///< sources of all nodes so far
  std::vector<meter::Description> descriptions_;  ///< of this node's sources
  std::unique_ptr<meter::Sampler> sampler_;       ///< on owners of a node; last, so it stops first
};

}  // namespace parajoule::train
