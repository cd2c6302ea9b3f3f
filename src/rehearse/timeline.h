#pragma once

// A picture of a run: Chrome's trace event format, JSON array, which chrome://tracing and Perfetto
// show.

#include <fstream>
#include <string>
#include <vector>

#include "simulate/options.h"

namespace parajoule::rehearse {

/// Writes spans as they come; times in the file are microseconds, the process is the rank, its
/// threads are the device and the link.
class Timeline {
 public:
  /// Throws Error{environment} if `path` cannot be written.
  explicit Timeline(const std::string& path);

  void add(const simulate::Span& span);
  /// The end of the file. Throws Error{environment} if not all of it could be written.
  void finish();

 private:
  void name_lanes(int rank);

  std::string path_;
  std::ofstream file_;
  std::vector<bool> named_;  ///< by rank
  bool first_ = true;
};

}  // namespace parajoule::rehearse
