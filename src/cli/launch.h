#pragma once

// Starting the ranks of a run on this machine, and owning its signals and exit status.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/live.h"
#include "cli/process.h"
#include "cli/signals.h"
#include "cli/verdict.h"

namespace parajoule::cli {

/// What `parajoule-train --check` found out about an experiment that can be started.
struct LaunchFacts {
  int ranks = 1;
  int threads = 1;                                      ///< of each rank
  int ranks_on_node = 1;                                ///< at most
  int node_cores = 1;                                   ///< that this process may use
  std::filesystem::path folder = {};                    ///< of the run
  std::map<std::string, std::string> environment = {};  ///< for the ranks
  std::vector<std::string> remarks = {};                ///< lines for the person
};

/// As `parajoule-train --check` prints them, and back. Throws Error{bug} for anything else.
std::string written(const LaunchFacts& facts);
LaunchFacts facts_in(std::string_view text);

/// The command that starts the ranks: the program itself for one rank, else under mpirun.
Command starter(const LaunchFacts& facts, const std::vector<std::string>& program);

/// How the ranks ended, and whether someone insisted on the end before they could stop.
struct Ended {
  Exit exit;
  bool killed = false;
};

/// What whoever runs ranks needs beside them.
struct Seat {
  Signals& signals;
  Live& live;
  /// Whether all ranks are ready to be asked to stop.
  std::function<bool()> listening;
};

/// Runs the command to its end. Its lines go to the live line's screen. TERM, USR1, HUP, the first
/// INT, and a reader who leaves ask the ranks to stop at their next step boundary; a second INT
/// kills them.
Ended run_ranks(const Command& command, const Seat& seat);

/// What mpirun says when it is asked to start as many of nothing: `-q` swallows it.
std::string own_words(const Command& command);

}  // namespace parajoule::cli
