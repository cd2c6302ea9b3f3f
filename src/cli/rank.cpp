#include "cli/rank.h"

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cores.h"
#include "cli/difference.h"
#include "cli/exit_status.h"
#include "cli/meeting.h"
#include "cli/notes.h"
#include "cli/parts.h"
#include "cli/reporting.h"
#include "cli/runs.h"
#include "cli/surroundings.h"
#include "cli/told.h"
#include "cli/vocabulary.h"
#include "comm/mpi.h"
#include "comm/solo.h"
#include "comm/sums.h"
#include "meter/open.h"
#include "nn/backend.h"
#include "train/place.h"
#include "train/stop.h"
#include "train/train.h"

namespace parajoule::cli {
namespace {

base::Error busy(const std::filesystem::path& folder) {
  return {base::Fault::environment,
          fmt::format("{}: another start of this experiment has just taken it; start it again",
                      folder.string())};
}

void say(std::string_view line) {
  if (!line.empty()) std::cerr << fmt::format("parajoule: {}\n", line) << std::flush;
}

/// Equal on ranks that compute on the same processors of the same machine.
std::string own_processors() {
  return fmt::format("{} {}", train::this_machine().boot_id, fmt::join(meter::own_cores(), ","));
}

/// This process as one rank: what it knows before and after it has met the others.
class Rank {
 public:
  explicit Rank(const RankOptions& options)
      : options_(options), place_(place_in(environment)), rank_(place_ ? place_->rank : 0) {
    try {
      experiment_ = read();
      NamedMeters meters = named_meters(options.meters);
      hardware_.meters = std::move(meters.sources);
      hardware_.wall = std::move(meters.wall);
    } catch (...) {
      // Others may have read it, and will wait for this rank.
      unread_ = std::current_exception();
    }
    if (!options.folder) return;
    note_.emplace(notes_in(*options.folder), rank_);
    note_->listen_for_crashes();
  }

  int run() {
    if (!place_) return alone();
    comm::Mpi mpi(mpi_options());
    try {
      mpi.run([this](comm::Communicator& world) { among(world); });
      return status_;
    } catch (...) {
      const Cause cause = told(std::current_exception());
      // Others may be about to leave a note of a cause that is older than ours.
      if (cause.fault == base::Fault::peer) std::this_thread::sleep_for(std::chrono::seconds(1));
      mpi.abort(status_of(cause.fault));
    }
  }

 private:
  train::Experiment read() const {
    Request request = options_.request;
    request.started = place_ ? place_->ranks : 1;
    train::Experiment experiment = read_experiment(request, vocabulary());
    experiment.command = options_.command;
    return experiment;
  }

  comm::Options mpi_options() const {
    return {.stall = experiment_.stall,
            .give_up = experiment_.give_up,
            .on_stall =
                [rank = rank_](const std::string& line) {
                  std::cerr << fmt::format("rank {}: {}\n", rank, line) << std::flush;
                },
            .check_collectives = experiment_.check_collectives,
            .ranks_per_node = experiment_.ranks_per_node};
  }

  /// Leaves the cause in a note, or prints it where nobody reads notes. Once.
  Cause told(const std::exception_ptr& thrown) {
    const Cause cause = cause_of(thrown);
    if (told_) return cause;
    told_ = true;
    const bool noted = note_ && note_->failed(cause.fault, cause.text);
    if (!options_.folder || !noted) {
      std::cerr << fmt::format("rank {}: {}\n", rank_, cause.text) << std::flush;
    }
    return cause;
  }

  int alone() {
    comm::Solo world;
    try {
      among(world);
      return status_;
    } catch (...) {
      return status_of(told(std::current_exception()).fault);
    }
  }

  /// The note is written before the others learn that this rank failed: theirs would come first.
  void among(comm::Communicator& world) {
    try {
      meet(world);
      train(world);
    } catch (const Refused& refused) {
      // All ranks know it and end in good order.
      status_ = status_of(refused.fault);
      if (rank_ != 0) return;
      if (!note_ || !note_->failed(refused.fault, refused.what())) say(refused.what());
    } catch (...) {
      told(std::current_exception());
      throw;
    }
  }

  void meet(comm::Communicator& world) {
    if (place_ && world.size() != place_->ranks) {
      throw Refused(0, {base::Fault::environment,
                        fmt::format("{} started {} ranks, but MPI knows of {}; {}", place_->starter,
                                    place_->ranks, world.size(), place_->remedy)});
    }
    together(world, [this] {
      if (unread_) std::rethrow_exception(unread_);
    });
    take_cores(world);
    if (!options_.folder) return begin(world);
    experiment_.folder = options_.folder->string();
    together(world, [this] {
      if (same_run(experiment_.folder, identity_of(experiment_))) return;
      throw base::Error(base::Fault::usage,
                        fmt::format("{}: changed since the run was checked; start it again",
                                    options_.request.path));
    });
  }

  /// Only now is it known who else computes on the same cores: MPI itself may have bound this rank.
  void take_cores(comm::Communicator& world) {
    const int cores = usable_cores();
    const int sharing = ranks_with(world, own_processors());
    const bool enough = share_cores(experiment_, cores, sharing);
    nn::use_threads(experiment_.threads);
    const int first = int(world.minimum(enough ? world.size() : rank_));
    if (first != rank_) return;
    std::cerr << fmt::format(
                     "rank {}: threads = {}: more than its cores (cores: {}, ranks on them: {}); "
                     "give it more with srun --cpus-per-task or mpirun --map-by slot:PE=, or lower "
                     "`threads`\n",
                     rank_, experiment_.threads, cores, sharing)
              << std::flush;
  }

  /// What the launcher does for the ranks it starts; those of srun and mpirun do it together.
  void begin(comm::Communicator& world) {
    together(world, [this] { make_parts(experiment_); });
    const std::string first = from_first(world, common_settings(experiment_));
    together(world, [&] { need_same(first); });
    together(world, [this] {
      if (rank_ == 0) choose_folder();
    });
    experiment_.folder = from_first(world, experiment_.folder);
    together(world, [this] { note_.emplace(notes_in(experiment_.folder), rank_); });
    note_->listen_for_crashes();
  }

  void need_same(const std::string& first) const {
    const auto found = difference(first, common_settings(experiment_));
    if (!found) return;
    throw base::Error(
        base::Fault::usage,
        fmt::format("{}, but rank 0 has {}: all ranks must read the same experiment",
                    setting_text(found->key, found->there), setting_text(found->key, found->here)));
  }

  void choose_folder() {
    make_folders(experiment_);
    const RunFolder folder =
        choose_run_folder(experiment_.checkpoints, identity_of(experiment_), options_.begin);
    experiment_.folder = folder.path.string();
    auto lock = RunLock::take(folder.path);
    if (!lock) throw busy(folder.path);
    lock_.emplace(std::move(*lock));
    clear_notes(notes_in(folder.path));
    say(lock_->remark());
    say(folder.remark);
    const auto asked = asked_ranks(options_.request, vocabulary());
    if (!place_ || !asked || *asked == place_->ranks) return;
    say(fmt::format("{} ranks, as {} started them, not ranks = {}", place_->ranks, place_->starter,
                    *asked));
  }

  void train(comm::Communicator& world) {
    comm::Summing summing(world, comm::sum(experiment_.sum.name), experiment_.sum.settings);
    Live live(standard_output());
    Reporting reporting(options_.folder ? to_launcher(STDOUT_FILENO) : to_person(live));
    const train::Outcome outcome = train::run(
        experiment_, summing, reporting, [this] { return stop_.requested(); }, hardware_);
    live.finish();
    if (outcome.stopped) {
      note_->stopped(fmt::format("after step {}", outcome.steps));
      // A launcher reads the notes; mpirun would take another status than 0 for a failure.
      status_ = options_.folder ? done : stopped;
      if (options_.folder || rank_ != 0) return;
      say(fmt::format("stopped after step {}; start the same command again to go on",
                      outcome.steps));
      return;
    }
    note_->ended(outcome.record);
    if (!options_.folder && world.rank() == 0) {
      live.print(run_text(outcome.record, look_of(STDOUT_FILENO)));
      if (const std::string why = keep_told(outcome.record); !why.empty()) say(why);
    }
  }

  const RankOptions& options_;
  train::Stop stop_;  // first of all: a request may come at any time
  std::optional<Place> place_;
  int rank_;
  train::Experiment experiment_;
  train::Hardware hardware_;
  std::exception_ptr unread_;  ///< why there is no experiment
  std::optional<OwnNote> note_;
  std::optional<RunLock> lock_;
  bool told_ = false;
  Status status_ = done;
};

}  // namespace

int run_rank(const RankOptions& options) {
  try {
    return Rank(options).run();
  } catch (...) {
    const Cause cause = cause_of(std::current_exception());
    std::cerr << fmt::format("parajoule: {}\n", cause.text) << std::flush;
    return status_of(cause.fault);
  }
}

}  // namespace parajoule::cli
