#pragma once

// A picture of a run or of its rehearsal: Chrome's trace event format, a JSON array, which Perfetto
// and chrome://tracing show.

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "store/reader.h"

namespace parajoule::cli {

/// Writes events as they come. In the file moments are microseconds; a rank is a process with the
/// threads `device` and `link`, and a node is one of its own that holds the values of its meters.
class Timeline {
 public:
  enum class Lane : std::uint8_t { device, link };

  /// Throws Error{environment} if `file` cannot be written.
  explicit Timeline(const std::filesystem::path& file);

  /// A stretch of a rank's time.
  void span(int rank, Lane lane, std::string_view what, base::Seconds begin, base::Seconds end);
  /// The value of a curve from this moment on.
  void value(int node, std::string_view curve, base::Seconds at, double value);
  /// Words at a moment, of the run as a whole.
  void word(std::string_view text, base::Seconds at);

  /// The end of the file. Throws Error{environment} if not all of it could be written.
  void finish();

 private:
  void name(int process, std::string_view kind, int number);
  void event(const std::string& json);

  std::filesystem::path path_;
  std::ofstream file_;
  std::set<int> named_;  ///< processes
};

/// What a record knows of its ranks' phases (in training at least a quarter of a second apart, see
/// store::Phase), its meters' power and its notes. Power of an energy counter is the mean between
/// two readings; where a reading is missing the curve has none. Throws as above.
void write_timeline(const store::Reader& record, const std::filesystem::path& file);

}  // namespace parajoule::cli
