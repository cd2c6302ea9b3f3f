#include "cli/rank.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/notes.h"
#include "cli/one_line.h"
#include "cli/reporting.h"
#include "cli/runs.h"
#include "cli/surroundings.h"
#include "cli/vocabulary.h"
#include "comm/mpi.h"
#include "comm/solo.h"
#include "train/stop.h"
#include "train/train.h"

namespace parajoule::cli {
namespace {

/// Why a rank ended, with whose move it is.
struct Cause {
  base::Fault fault;
  std::string text;
};

Cause cause_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const base::Error& error) {
    return {error.fault, one_line(error.what())};
  } catch (const std::bad_alloc&) {
    return {base::Fault::environment, "out of memory"};
  } catch (const std::exception& error) {
    return {base::Fault::bug, one_line(error.what())};
  }
}

base::Error busy(const std::filesystem::path& folder) {
  return {base::Fault::environment,
          fmt::format("{}: another start of this experiment has just taken it; start it again",
                      folder.string())};
}

/// This process as one rank: what it knows before and after it has met the others.
class Rank {
 public:
  explicit Rank(const RankOptions& options)
      : options_(options),
        place_(place_in(environment)),
        rank_(place_ ? place_->rank : 0),
        experiment_(read()) {
    if (options.folder) note_.emplace(notes_in(*options.folder), rank_);
    if (note_) note_->listen_for_crashes();
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
    } catch (...) {
      told(std::current_exception());
      throw;
    }
  }

  void meet(comm::Communicator& world) {
    if (world.size() != experiment_.ranks) {
      throw base::Error(base::Fault::environment,
                        fmt::format("{} started {} ranks, but MPI knows of {}; {}", place_->starter,
                                    experiment_.ranks, world.size(), place_->remedy));
    }
    if (options_.folder) {
      experiment_.folder = options_.folder->string();
      if (same_run(*options_.folder, identity_of(experiment_))) return;
      throw base::Error(base::Fault::usage,
                        fmt::format("{}: changed since the run was checked; start it again",
                                    options_.request.path));
    }
    agree_on_folder(world);
    note_.emplace(notes_in(experiment_.folder), rank_);
    note_->listen_for_crashes();
  }

  /// The first rank chooses the folder for all.
  void agree_on_folder(comm::Communicator& world) {
    if (world.rank() == 0) {
      const RunFolder folder =
          choose_run_folder(experiment_.checkpoints, identity_of(experiment_), options_.begin);
      experiment_.folder = folder.path.string();
      auto lock = RunLock::take(folder.path);
      if (!lock) throw busy(folder.path);
      lock_.emplace(std::move(*lock));
      clear_notes(notes_in(folder.path));
    }
    double length = double(experiment_.folder.size());
    length = world.sum(world.rank() == 0 ? length : 0);
    experiment_.folder.resize(std::size_t(length));
    const std::span letters(reinterpret_cast<std::byte*>(experiment_.folder.data()),
                            experiment_.folder.size());
    world.broadcast(base::Vector(letters), 0);
  }

  void train(comm::Communicator& world) {
    Live live(standard_output());
    Reporting reporting(options_.folder ? to_launcher() : to_person(live));
    const train::Outcome outcome =
        train::run(experiment_, world, reporting, [this] { return stop_.requested(); });
    live.finish();
    if (outcome.stopped) {
      note_->stopped(fmt::format("after step {}", outcome.steps));
      // A launcher reads the notes; mpirun would take another status than 0 for a failure.
      status_ = options_.folder ? done : stopped;
      return;
    }
    note_->ended(outcome.record);
    if (!options_.folder && world.rank() == 0) {
      live.print(run_text(outcome.record, look_of(STDOUT_FILENO)));
    }
  }

  const RankOptions& options_;
  train::Stop stop_;  // first of all: a request may come at any time
  std::optional<Place> place_;
  int rank_;
  train::Experiment experiment_;
  std::optional<OwnNote> note_;
  std::optional<RunLock> lock_;
  bool told_ = false;
  Status status_ = done;
};

}  // namespace

int run_rank(const RankOptions& options) {
  try {
    return Rank(options).run();
  } catch (const base::Error& error) {
    // Every rank that srun started reads the same wrong file: one of them says so.
    const auto place = error.fault == base::Fault::usage ? place_in(environment) : std::nullopt;
    if (!place || place->rank == 0) {
      std::cerr << fmt::format("parajoule: {}\n", one_line(error.what())) << std::flush;
    }
    return status_of(error.fault);
  }
}

}  // namespace parajoule::cli
