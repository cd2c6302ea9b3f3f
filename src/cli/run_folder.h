#pragma once

// The folder of a run: its checkpoints, the notes of its ranks, and what it is a run of. Starting
// the same experiment again goes on with a run that did not end; two at once get a folder each.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace parajoule::cli {

/// What makes two starts the same run: written into the folder, compared word for word.
struct RunIdentity {
  std::string name;      ///< of the experiment
  std::string settings;  ///< all that decides what is computed, a line each
};

enum class Begin { resume_if_possible, afresh };

struct RunFolder {
  std::filesystem::path path;
  bool begun_before = false;  ///< by a start that did not come to its end
  std::string remark = {};    ///< for a person: the unfinished run it does not go on with, and why
};

/// Finds or makes a folder below `checkpoints`. Throws Error{environment} that names it if it
/// cannot be written.
RunFolder choose_run_folder(const std::filesystem::path& checkpoints, const RunIdentity& identity,
                            Begin begin);

/// Whether the folder is that of such a run.
bool same_run(const std::filesystem::path& run_folder, const RunIdentity& identity);

/// Removes the folder of a start that failed, if it holds no checkpoint: nothing could go on there,
/// and the next start would take it for an unfinished run. Whatever is not ours stays.
void remove_if_nothing_began(const std::filesystem::path& run_folder);

/// Where the ranks leave their notes.
std::filesystem::path notes_in(const std::filesystem::path& run_folder);

/// Says for as long as it lives that a run is under way in the folder.
class RunLock {
 public:
  /// None if another process holds it. Where the file system has no locks this always succeeds, and
  /// `remark` says so.
  static std::optional<RunLock> take(const std::filesystem::path& run_folder);
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;
  ~RunLock();

  const std::string& remark() const { return remark_; }

 private:
  explicit RunLock(int file) : file_(file) {}

  int file_;
  std::string remark_;
};

}  // namespace parajoule::cli
