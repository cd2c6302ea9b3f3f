#pragma once

// The notes that ranks leave in the run's folder, so that whoever started them can say in one line
// what happened. A rank that leaves no last word is one that died.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/error.h"

namespace parajoule::cli {

/// What became of one rank.
struct Note {
  enum class State { started, failed, stopped, ended };
  State state = State::started;
  std::optional<base::Fault> fault = {};  ///< of one that failed; none: a crash
  std::string text = {};                  ///< the cause; where it stopped; the record it wrote
  double utc_seconds = 0;                 ///< when this was written; infinity: nobody knows
  std::string host = {};
  pid_t process = 0;

  bool operator==(const Note&) const = default;
};

/// The note of this process. The page it needs is written when the rank starts, and overwritten in
/// place, so that the last word can be said on a full disk too.
class OwnNote {
 public:
  /// Says that `rank` has started. Throws Error{environment} that names the file.
  OwnNote(const std::filesystem::path& folder, int rank);
  OwnNote(const OwnNote&) = delete;
  OwnNote& operator=(const OwnNote&) = delete;
  ~OwnNote();

  /// The last word. Only the first one counts: what comes after it follows from it. False if it
  /// could not be written.
  bool failed(base::Fault fault, std::string_view cause);
  bool stopped(std::string_view where);
  /// `record`: of the rank that wrote it.
  bool ended(std::string_view record = {});

  /// From now on a crash of this process (segmentation fault, abort and the like) is a last word
  /// too. For one note in a process, which must live until the process ends.
  void listen_for_crashes();

 private:
  bool write(Note note);

  int file_ = -1;
  bool last_word_ = false;
};

/// Makes the folder, or empties it of the notes of an earlier start.
void clear_notes(const std::filesystem::path& folder);

/// The notes of ranks 0 ... `ranks` - 1; none where a rank left none. Throws nothing: what cannot
/// be read is none.
std::vector<std::optional<Note>> read_notes(const std::filesystem::path& folder, int ranks);

/// The words for the states and faults in the files.
std::string_view name_of(Note::State state);
std::string_view name_of(base::Fault fault);

}  // namespace parajoule::cli
