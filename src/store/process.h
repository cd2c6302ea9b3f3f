#pragma once

// Who writes a record, in a form that lets a reader tell whether that process still lives.

#include <string>
#include <string_view>

namespace parajoule::store {

/// Names this process for ever: the start of this machine, the space of process numbers (a
/// container has its own), the number, and when the process began. A number that is given to
/// another process later is so recognised.
std::string this_process();

enum class Life {
  alive,
  gone,
  elsewhere,  ///< on another machine or in another container: it cannot be told from here
};

/// Of a process named by `this_process` in its own time.
Life life_of(std::string_view process);

/// Of this machine, as the system has it.
std::string host_name();

/// Of /proc/sys/kernel/random: differs after each start of a machine. Empty if there is none.
std::string boot_id();

}  // namespace parajoule::store
