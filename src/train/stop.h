#pragma once

// The wish to stop: a signal that a rank notices at its next step boundary, where it writes a
// checkpoint and ends with status 75.

#include <optional>

namespace parajoule::train {

/// Listens for USR1 (the launcher, Slurm's `--signal=USR1@120`), TERM, HUP and INT for as long as
/// it lives, and then puts back what was there; a HUP or INT that was ignored (nohup) stays so. One
/// at a time in a process. A second INT ends the process at once, so that a person can always get
/// out. Meanwhile a file that grows beyond
/// `ulimit -f` is an error of its write, like a full disk, and not the end of the process.
///
/// Only some ranks may get the signal: the ranks must agree on it before anybody acts.
class Stop {
 public:
  Stop();
  ~Stop();
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  bool requested() const { return signal().has_value(); }

  /// The first signal that came, e.g. SIGUSR1.
  std::optional<int> signal() const;
};

}  // namespace parajoule::train
