#pragma once

// What to say, and which status to end with, once all ranks of a run are gone.

#include <optional>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/notes.h"

namespace parajoule::cli {

/// How the process ended that started the ranks, or the only rank itself.
struct Exit {
  int code = 0;
  std::optional<int> signal = {};  ///< that killed it
};

struct Verdict {
  Status status = done;
  std::string line = {};  ///< for a person; names the rank and the first cause
};

/// Pure: from the notes of all ranks and the exit. The first cause is the earliest failure that is
/// not the echo of another rank's; a rank without a last word is the one that died.
Verdict judge(const std::vector<std::optional<Note>>& notes, const Exit& exit);

/// Whether no rank got as far as leaving a note: then the cause is in what started them.
bool none_started(const std::vector<std::optional<Note>>& notes);

}  // namespace parajoule::cli
