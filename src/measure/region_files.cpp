#include "measure/region_files.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/plain_file.h"
#include "store/file_name.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using std::filesystem::path;

/// The word before the next blank; takes both.
std::string_view word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view found = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return found;
}

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value{};
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>)
    result =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  else
    result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return {};
  // from_chars reads `nan` and `inf` too.
  if constexpr (std::is_floating_point_v<Number>)
    if (!std::isfinite(value)) return {};
  return value;
}

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code =
        text[i] == '%' ? number<unsigned char>(text.substr(i + 1, 2), 16) : std::nullopt;
    if (code && i + 2 < text.size()) {
      plain += char(*code);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

class Lines {
 public:
  Lines(int rank, Seconds last) : rank_(rank), last_(last) {}

  void take(std::string_view line) {
    const std::string_view kind = word(line);
    const std::string id(word(line));
    const auto seconds = number<double>(word(line));
    if (id.empty() || !seconds)
      ++told_.misread;
    else if (kind == "B")
      begin(id, Seconds(*seconds), decoded(line));
    else if (kind != "E" || !end(id, Seconds(*seconds)))
      ++told_.misread;
  }

  ToldRegions all() && {
    told_.open = int(open_.size());
    return std::move(told_);
  }

 private:
  void begin(const std::string& id, Seconds at, std::string name) {
    open_[id] = told_.phases.size();
    told_.phases.push_back(
        {.rank = rank_, .name = std::move(name), .begin = at, .end = std::max(at, last_)});
  }

  bool end(const std::string& id, Seconds at) {
    const auto found = open_.find(id);
    if (found == open_.end() || at < told_.phases[found->second].begin) return false;
    told_.phases[found->second].end = at;
    open_.erase(found);
    return true;
  }

  int rank_;
  Seconds last_;
  ToldRegions told_;
  std::map<std::string, std::size_t> open_;
};

constexpr std::size_t most_of_a_process = 256 << 20;  // bytes: millions of regions

const std::string folder_name = "parajoule-regions-";

/// The folder, open and locked; -1 if another process has it locked.
int locked(const path& folder) {
  const int file = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

/// Folders of owners that were killed. Those of other users cannot be removed.
void remove_orphans(const path& place) {
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(place, failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    if (!entry->path().filename().string().starts_with(folder_name)) continue;
    const int file = locked(entry->path());
    if (file < 0) continue;
    std::error_code nothing;
    std::filesystem::remove_all(entry->path(), nothing);
    close(file);
  }
}

}  // namespace

ToldRegions regions_in(std::string_view text, int rank, Seconds last) {
  Lines lines(rank, last);
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines.take(text.substr(0, end));
  return std::move(lines).all();
}

RegionFiles RegionFiles::make(const path& memory) {
  RegionFiles files;
  std::error_code failed;
  std::vector<path> places = store::temporary_folders();
  places.insert(places.begin(), memory);
  for (const path& place : places) {
    std::string draft = place / "parajoule-draft-XXXXXX";
    if (place.empty() || !mkdtemp(draft.data())) continue;
    files.lock_ = locked(draft);
    files.folder_ = place / (folder_name + draft.substr(draft.size() - 6));
    remove_orphans(place);
    std::filesystem::rename(draft, files.folder_, failed);
    if (failed) files.folder_ = draft;
    break;
  }
  if (files.folder_.empty())
    files.troubles_.push_back("regions are not taken: there is no folder to tell them in");
  return files;
}

RegionFiles RegionFiles::in(const path& folder) {
  RegionFiles files;
  std::error_code failed;
  std::filesystem::create_directory(folder, failed);
  if (!failed) files.folder_ = folder;
  return files;
}

RegionFiles::~RegionFiles() {
  std::error_code nothing;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, nothing);
  if (lock_ >= 0) close(lock_);
}

RegionFiles::RegionFiles(RegionFiles&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      lock_(std::exchange(other.lock_, -1)),
      troubles_(std::move(other.troubles_)) {}

RegionFiles& RegionFiles::operator=(RegionFiles&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(lock_, other.lock_);
  std::swap(troubles_, other.troubles_);
  return *this;
}

std::map<std::string, std::string> RegionFiles::environment() const {
  if (folder_.empty()) return {};
  return {{"PARAJOULE_REGIONS", folder_.string()}};
}

std::vector<store::Phase> RegionFiles::phases(std::chrono::steady_clock::time_point start) {
  const Seconds origin = start.time_since_epoch();
  const Seconds now = std::chrono::steady_clock::now().time_since_epoch();
  std::vector<path> names;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(folder_, failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    names.push_back(entry->path());
  std::ranges::sort(names);
  std::vector<store::Phase> all;
  for (std::size_t process = 0; process < names.size(); ++process) {
    std::string text;
    try {
      text = base::plain_text(names[process], most_of_a_process, base::Links::refused);
    } catch (const base::Error& error) {
      troubles_.push_back(fmt::format("regions: {}", error.what()));
      continue;
    }
    ToldRegions told = regions_in(text, int(process), now);
    for (store::Phase& phase : told.phases) {
      phase.begin -= origin;
      phase.end -= origin;
      all.push_back(std::move(phase));
    }
    if (told.open > 0)
      troubles_.push_back(
          fmt::format("{} regions of process {} were not ended: they count until "
                      "the command's end",
                      told.open, names[process].filename().string()));
    if (told.misread > 0)
      troubles_.push_back(fmt::format("{} lines of regions of process {} could not be read",
                                      told.misread, names[process].filename().string()));
  }
  return all;
}

}  // namespace parajoule::measure
