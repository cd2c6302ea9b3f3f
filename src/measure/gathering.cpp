#include "measure/gathering.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::measure {
namespace {

using nlohmann::json;
using std::filesystem::path;

base::Error unusable(const path& file, int code) {
  return {base::Fault::environment,
          fmt::format("cannot use '{}': {}", file.string(), std::strerror(code))};
}

void write_whole(int file, const path& name, const std::string& text) {
  if (ftruncate(file, 0) != 0 || pwrite(file, text.data(), text.size(), 0) != ssize_t(text.size()))
    throw unusable(name, errno);
}

std::string text_of(const path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

template <class Value>
std::optional<Value> optional_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? std::nullopt : std::optional(found->get<Value>());
}

}  // namespace

// FNV-1a, for std::hash may differ from one build to the next.
std::uint64_t mixed(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char sign : text) hash = (hash ^ static_cast<unsigned char>(sign)) * 1099511628211ULL;
  return hash;
}

std::string written(const Page& page) {
  json object = {{"rank", page.rank},
                 {"cores", page.cores},
                 {"cpu", page.cpu.count()},
                 {"remarks", page.remarks}};
  if (page.visible_devices) object["devices"] = *page.visible_devices;
  if (page.begin) object["begin"] = page.begin->count();
  if (page.end) object["end"] = page.end->count();
  if (page.status) object["status"] = *page.status;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Page> page_in(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return {};
  try {
    Page page{.rank = object.at("rank").get<int>(),
              .cores = object.at("cores").get<std::vector<int>>(),
              .visible_devices = optional_in<std::string>(object, "devices"),
              .status = optional_in<int>(object, "status"),
              .cpu = base::Seconds(object.at("cpu").get<double>()),
              .remarks = object.at("remarks").get<std::vector<std::string>>()};
    if (const auto begin = optional_in<double>(object, "begin")) page.begin = base::Seconds(*begin);
    if (const auto end = optional_in<double>(object, "end")) page.end = base::Seconds(*end);
    return page;
  } catch (const json::exception&) {
    return {};
  }
}

std::optional<Lock> Lock::take(const path& name) {
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) throw unusable(name, errno);
  Lock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return {};
  throw unusable(name, errno);
}

Lock::Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

Lock& Lock::operator=(Lock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

Lock::~Lock() {
  if (file_ >= 0) close(file_);
}

bool held(const path& name) {
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool free = flock(file, LOCK_SH | LOCK_NB) == 0;
  close(file);
  return !free;
}

void wait_until_free(const path& name) {
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  while (flock(file, LOCK_SH) != 0 && errno == EINTR) {
  }
  close(file);
}

Gathering::Gathering(const std::string& job, const std::string& boot_id, const path& memory)
    : folder_(memory / fmt::format("parajoule-{}-{:016x}", getuid(), mixed(boot_id + "\n" + job))) {
  if (mkdir(folder_.c_str(), 0700) != 0 && errno != EEXIST) throw unusable(folder_, errno);
  struct stat status {};
  if (lstat(folder_.c_str(), &status) != 0) throw unusable(folder_, errno);
  if (!S_ISDIR(status.st_mode) || status.st_uid != getuid() || (status.st_mode & 077) != 0)
    throw unusable(folder_, EPERM);
}

Lock Gathering::enter(const Page& page) const {
  const path draft = folder_ / fmt::format("draft.{}", getpid());
  auto lock = Lock::take(draft);
  if (!lock) throw unusable(draft, EWOULDBLOCK);
  rewrite(*lock, page);
  const path name = folder_ / fmt::format("task.{}", page.rank);
  if (rename(draft.c_str(), name.c_str()) != 0) throw unusable(name, errno);
  return std::move(*lock);
}

void Gathering::rewrite(const Lock& lock, const Page& page) const {
  write_whole(lock.file(), folder_, written(page));
}

std::vector<path> Gathering::files() const {
  std::vector<path> names;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(folder_, failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
    if (entry->path().filename().string().starts_with("task.")) names.push_back(entry->path());
  std::ranges::sort(names);
  return names;
}

std::vector<Page> Gathering::pages() const {
  std::vector<Page> all;
  for (const path& file : files())
    if (auto page = page_in(text_of(file))) all.push_back(std::move(*page));
  std::ranges::sort(all, {}, &Page::rank);
  return all;
}

void Gathering::clear() const {
  std::error_code nothing;
  for (const path& file : files())
    if (!held(file)) std::filesystem::remove(file, nothing);
  for (const path& file : {ready(), result(), told()}) std::filesystem::remove(file, nothing);
  std::filesystem::remove_all(regions(), nothing);
}

void Gathering::remove() const {
  std::error_code nothing;
  std::filesystem::remove_all(folder_, nothing);
}

}  // namespace parajoule::measure
