#pragma once

// What this process was given by whoever started it: the command is to be given the same.

#include <vector>

#include <signal.h>
#include <sys/resource.h>

namespace parajoule::measure {

/// Signals that were held back, files that were open, and how many may be.
struct Inherited {
  sigset_t mask;
  std::vector<int> files;
  rlimit most_files = {};
};

/// To be asked before signals are held back or files opened. A file that closes when another
/// program is started cannot have been inherited.
Inherited inherited();

/// While metering takes as many files as it gets, keeps room for those that the command's start
/// needs; gives it free again.
void keep_room(const Inherited& inherited);
void give_room(const Inherited& inherited);

/// Lets no file but the inherited ones reach a program that is started from now on: libraries of
/// vendors open some that would.
void keep_other_files(const Inherited& inherited);

/// Lets go of the inherited files but standard error, once the command has them: a pipe that is
/// held open here would not end for whoever is at its other end.
void let_go(const Inherited& inherited);

/// Closes all but the three standard streams and `kept`: in a process that was forked from one
/// without threads.
void close_files_but(int kept);

}  // namespace parajoule::measure
