#include "store/folder.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace parajoule::store {
namespace {

using std::filesystem::path;

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// `<id>.<node>.db`
bool is_part(const path& file) {
  const std::string node = file.stem().extension();
  return node.size() > 1 && digits(std::string_view(node).substr(1)) &&
         file.stem().stem().string().find('-') == std::string::npos;
}

// Of `<start>-<name>-<id>.db`; of a file with another name, its name.
std::string id_of(const path& file) {
  const std::string stem = file.stem();
  return stem.substr(stem.rfind('-') + 1);
}

[[noreturn]] void none(const path& folder, std::string_view wanted) {
  throw base::Error(base::Fault::usage,
                    fmt::format("there is no record '{}' in the folder '{}'; `parajoule runs list` "
                                "shows what is there",
                                wanted, folder.string()));
}

}  // namespace

std::vector<path> records_in(const path& folder) {
  std::vector<path> files;
  std::error_code failed;
  if (!std::filesystem::exists(folder, failed) && !failed) return files;
  auto entry = std::filesystem::directory_iterator(folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (entry->path().extension() == ".db" && !is_part(entry->path()))
      files.push_back(entry->path());
  if (failed)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot read the folder of records '{}': {}", folder.string(),
                                  failed.message()));
  std::ranges::sort(files, std::ranges::greater(), &path::filename);
  return files;
}

path find_record(const path& folder, std::string_view wanted) {
  const bool is_path = wanted.find('/') != wanted.npos || wanted.ends_with(".db");
  if (is_path) return wanted;
  const std::vector<path> files = records_in(folder);
  if (files.empty())
    throw base::Error(base::Fault::usage,
                      fmt::format("there are no records in the folder '{}'; --records and "
                                  "PARAJOULE_RECORDS name another folder",
                                  folder.string()));
  if (wanted == "last") return files.front();
  std::vector<path> found;
  for (const path& file : files) {
    const std::string id = id_of(file);
    if (id == wanted) return file;
    if (!wanted.empty() && id.starts_with(wanted)) found.push_back(file);
  }
  if (found.empty()) none(folder, wanted);
  if (found.size() == 1) return found.front();
  std::vector<std::string> ids;
  for (const path& file : found) ids.push_back(id_of(file));
  throw base::Error(base::Fault::usage, fmt::format("'{}' begins the ids of {} records: {}", wanted,
                                                    ids.size(), fmt::join(ids, ", ")));
}

}  // namespace parajoule::store
