#include "measure/inherited.h"

#include <algorithm>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

/// Without /proc: as many as are tried one by one.
constexpr rlim_t most_tried = 4096;

std::vector<int> files_tried() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  std::vector<int> files;
  for (int file = 0; file < int(std::min(limit.rlim_cur, most_tried)); ++file)
    if (fcntl(file, F_GETFD) >= 0) files.push_back(file);
  return files;
}

std::vector<int> open_files() {
  DIR* const folder = opendir("/proc/self/fd");
  if (!folder) return files_tried();
  std::vector<int> files;
  while (const dirent* entry = readdir(folder))
    if (entry->d_name[0] != '.') files.push_back(std::atoi(entry->d_name));
  std::erase(files, dirfd(folder));
  closedir(folder);
  std::ranges::sort(files);
  return files;
}

bool passed_on(int file) {
  const int flags = fcntl(file, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) == 0;
}

}  // namespace

Inherited inherited() {
  Inherited found{.mask = {}, .files = open_files()};
  pthread_sigmask(SIG_SETMASK, nullptr, &found.mask);
  getrlimit(RLIMIT_NOFILE, &found.most_files);
  std::erase_if(found.files, [](int file) { return !passed_on(file); });
  return found;
}

void keep_room(const Inherited& inherited) {
  constexpr rlim_t for_the_start = 3;  // a line to the new process, and /dev/null
  rlimit fewer = inherited.most_files;
  if (fewer.rlim_cur == RLIM_INFINITY || fewer.rlim_cur <= for_the_start) return;
  fewer.rlim_cur -= for_the_start;
  setrlimit(RLIMIT_NOFILE, &fewer);
}

void give_room(const Inherited& inherited) { setrlimit(RLIMIT_NOFILE, &inherited.most_files); }

void keep_other_files(const Inherited& inherited) {
  for (const int file : open_files())
    if (passed_on(file) && !std::ranges::binary_search(inherited.files, file))
      fcntl(file, F_SETFD, FD_CLOEXEC);
}

void close_files_but(int kept) {
  for (const int file : open_files())
    if (file > STDERR_FILENO && file != kept) close(file);
}

void let_go(const Inherited& inherited) {
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int file : inherited.files) {
    if (file == STDIN_FILENO || file == STDOUT_FILENO)
      dup2(nothing, file);  // their numbers must not become those of other files
    else if (file != STDERR_FILENO)
      close(file);
  }
  close(nothing);
}

}  // namespace parajoule::measure
