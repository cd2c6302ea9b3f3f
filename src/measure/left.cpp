#include "measure/left.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

struct Process {
  pid_t parent;
  Left left;
};

/// Out of /proc/PID/stat (proc(5)): the name in brackets may hold anything; the state, the parent,
/// and as fields 14 to 17 the processor time of the process and of the children it waited for.
std::optional<Process> read_process(pid_t number) {
  std::ifstream file(fmt::format("/proc/{}/stat", number));
  std::string stat;
  std::getline(file, stat, '\0');
  const std::size_t begin = stat.find('(');
  const std::size_t end = stat.rfind(')');
  if (begin == stat.npos || end == stat.npos) return {};
  std::istringstream rest(stat.substr(end + 1));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  std::string skipped;
  for (int field = 5; field < 14; ++field) rest >> skipped;
  double ticks = 0;
  for (int field = 14; field <= 17; ++field) {
    double of_one = 0;
    rest >> of_one;
    ticks += of_one;
  }
  if (!rest || state == 'Z') return {};
  const base::Seconds cpu(ticks / double(sysconf(_SC_CLK_TCK)));
  return Process{parent, {number, stat.substr(begin + 1, end - begin - 1), cpu}};
}

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> all;
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator("/proc", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    if (auto process = read_process(std::atoi(name.c_str())))
      all.emplace(process->left.process, std::move(*process));
  }
  return all;
}

bool is_of(std::span<const pid_t> processes, pid_t process) {
  return std::ranges::find(processes, process) != processes.end();
}

bool descends(const std::map<pid_t, Process>& all, pid_t process, pid_t from,
              std::span<const pid_t> but) {
  for (std::size_t step = 0; step < all.size() && !is_of(but, process); ++step) {
    const auto found = all.find(process);
    if (found == all.end()) return false;
    if (found->second.parent == from) return true;
    process = found->second.parent;
  }
  return false;
}

/// Whether the kernel says that this process has no child but `own`: then a look at all processes
/// is saved. All are children of the first thread.
bool only_children(std::span<const pid_t> own) {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", getpid()));
  if (!file) return false;
  for (pid_t child = 0; file >> child;)
    if (!is_of(own, child)) return false;
  return true;
}

}  // namespace

std::string told(std::span<const Left> left) {
  if (left.size() == 1)
    return fmt::format(
        "{} (process {}) outlived the command: what it takes from now on is in no number here",
        left.front().name, left.front().process);
  constexpr std::size_t most_names = 4;
  std::map<std::string, int> times;
  for (const Left& one : left) ++times[one.name];
  std::vector<std::pair<int, std::string>> often;
  for (const auto& [name, count] : times) often.emplace_back(-count, name);
  std::ranges::sort(often);
  std::vector<std::string> names;
  for (const auto& [count, name] : often) {
    if (names.size() == most_names) break;
    names.push_back(count == -1 ? name : fmt::format("{} ({} times)", name, -count));
  }
  if (often.size() > most_names) names.emplace_back("others");
  return fmt::format(
      "{} processes outlived the command, the first of them {}: {}: what they take from now on is "
      "in no number here",
      left.size(), left.front().process, fmt::join(names, ", "));
}

std::vector<Left> left_behind(std::span<const pid_t> own) {
  if (only_children(own)) return {};
  const std::map<pid_t, Process> all = all_processes();
  std::vector<Left> left;
  for (const auto& [number, process] : all)
    if (descends(all, number, getpid(), own)) left.push_back(process.left);
  return left;
}

}  // namespace parajoule::measure
