#include "cli/run_folder.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/difference.h"
#include "cli/notes.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view identity_file = "experiment";
constexpr std::string_view lock_file = "lock";

base::Error cannot_write(const fs::path& path, const std::string& why) {
  return {base::Fault::environment,
          fmt::format("cannot write {}: {}; name another folder with the key `checkpoints`",
                      path.string(), why)};
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Letters that are safe in a file name on every system; the rest becomes `-`.
std::string file_name(std::string_view name) {
  std::string safe;
  for (char c : name.substr(0, 60)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '_' || c == '.';
    safe += plain ? c : '-';
  }
  return safe.empty() || safe[0] == '.' ? "run" + safe : safe;
}

fs::path new_folder(const fs::path& checkpoints, std::string_view name) {
  std::random_device chance;
  const auto now =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return checkpoints / fmt::format("{:%Y%m%dT%H%M%SZ}-{}-{:06x}", fmt::gmtime(now), file_name(name),
                                   chance() & 0xffffff);
}

/// Whether a run folder's name says that it is of an experiment called so.
bool called(const fs::path& folder, std::string_view name) {
  constexpr std::string_view before = "20251130T101112Z-";
  constexpr std::string_view after = "-0123ab";
  const std::string whole = folder.filename().string();
  if (whole.size() < before.size() + after.size()) return false;
  return whole.substr(before.size(), whole.size() - before.size() - after.size()) ==
         file_name(name);
}

bool came_to_its_end(const fs::path& folder) {
  const auto first = read_notes(notes_in(folder), 1)[0];
  return first && first->state == Note::State::ended;
}

bool can_go_on(const fs::path& folder, const RunIdentity& identity) {
  return same_run(folder, identity) && !came_to_its_end(folder) &&
         RunLock::take(folder).has_value();
}

/// The latest one: names begin with the time.
std::optional<fs::path> unfinished(const fs::path& checkpoints, const RunIdentity& identity) {
  std::optional<fs::path> latest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(checkpoints, error)) {
    if (latest && entry.path() < *latest) continue;
    if (can_go_on(entry.path(), identity)) latest = entry.path();
  }
  return latest;
}

/// The last run of this name was perhaps meant to go on, and something was changed by mistake.
std::string left_behind(const fs::path& checkpoints, const RunIdentity& identity) {
  std::optional<fs::path> latest;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(checkpoints, error)) {
    if (called(entry.path(), identity.name) && (!latest || *latest < entry.path()))
      latest = entry.path();
  }
  if (!latest || came_to_its_end(*latest) || !RunLock::take(*latest)) return "";
  const auto changed = difference(text_of(*latest / identity_file), identity.settings);
  if (!changed) return "";
  return fmt::format("begins anew: the unfinished run in {} has {}, this one {}", latest->string(),
                     setting_text(changed->key, changed->here),
                     setting_text(changed->key, changed->there));
}

}  // namespace

RunFolder choose_run_folder(const fs::path& checkpoints, const RunIdentity& identity, Begin begin) {
  if (begin == Begin::resume_if_possible) {
    if (const auto folder = unfinished(checkpoints, identity)) {
      return {.path = *folder, .begun_before = true};
    }
  }
  const bool may_go_on = begin == Begin::resume_if_possible;
  const std::string remark = may_go_on ? left_behind(checkpoints, identity) : "";
  const fs::path folder = new_folder(checkpoints, identity.name);
  std::error_code error;
  fs::create_directories(notes_in(folder), error);
  if (error) throw cannot_write(folder, error.message());
  std::ofstream file(folder / identity_file, std::ios::binary);
  file << identity.settings << std::flush;
  if (!file) throw cannot_write(folder / identity_file, std::strerror(errno));
  return {.path = folder, .remark = remark};
}

bool same_run(const fs::path& run_folder, const RunIdentity& identity) {
  return text_of(run_folder / identity_file) == identity.settings;
}

void remove_if_nothing_began(const fs::path& run_folder) {
  const fs::path notes = notes_in(run_folder);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_folder, error)) {
    const fs::path name = entry.path().filename();
    if (name != identity_file && name != lock_file && name != notes.filename()) return;
  }
  fs::remove_all(run_folder, error);
}

fs::path notes_in(const fs::path& run_folder) { return run_folder / "notes"; }

/// Programs that we start inherit the lock: it holds until the last of them is gone.
std::optional<RunLock> RunLock::take(const fs::path& run_folder) {
  const fs::path path = run_folder / lock_file;
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0644);
  if (file < 0) throw cannot_write(path, std::strerror(errno));
  RunLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return {};
  lock.remark_ = fmt::format("{} cannot be locked ({}): do not start this experiment twice at once",
                             path.string(), std::strerror(errno));
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), remark_(std::move(other.remark_)) {}

RunLock::~RunLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace parajoule::cli
