#pragma once

// The disk of a test program, which dies or fills up at the moment a test wants. Linking
// failing_disk.cpp replaces write, fsync, rename and unlink of the whole program.

#include <cstdint>
#include <string>
#include <vector>

namespace parajoule::train::failing_disk {

/// Time on this disk: a byte written is a tick, and so is every other call.
std::int64_t ticks();

/// Kills the process (SIGKILL) when the clock, set to zero, reaches `tick`: the bytes up to it have
/// been written, the call that would pass it has not been made.
void kill_at(std::int64_t tick);

/// From then on writes fail with `code` (ENOSPC, EDQUOT, EFBIG, EIO), after the bytes that still
/// had room.
void fill_at(std::int64_t tick, int code);

/// Nothing happens any more. Sets the clock to zero and clears the list of calls.
void heal();

/// What has been called, in order; writes one after the other count as one.
std::vector<std::string> calls();

}  // namespace parajoule::train::failing_disk
