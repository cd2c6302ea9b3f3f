#pragma once

// The exit status of every command: a promise to scripts (docs/running.md).

#include "base/error.h"

namespace parajoule::cli {

enum Status : int {
  done = 0,
  worse = 1,           ///< compared, and worse
  wrong_usage = 2,     ///< or wrong input: nothing was started
  no_environment = 3,  ///< this machine lacks space, a permission, a package
  rank_died = 4,       ///< or stalled
  our_bug = 5,
  not_a_number = 6,
  cannot_tell = 7,  ///< compared, and there is nothing that decides
  stopped = 75,     ///< on request, with a checkpoint: the next start resumes
};

constexpr Status status_of(base::Fault fault) {
  switch (fault) {
    case base::Fault::usage:
    case base::Fault::input:
      return wrong_usage;
    case base::Fault::environment:
      return no_environment;
    case base::Fault::peer:
      return rank_died;
    case base::Fault::not_a_number:
      return not_a_number;
    case base::Fault::bug:
      break;
  }
  return our_bug;
}

}  // namespace parajoule::cli
