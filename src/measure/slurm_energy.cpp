#include "measure/slurm_energy.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

constexpr std::chrono::milliseconds patience{2000};
constexpr std::size_t longest_answer = 4096;

/// A program that is asked something.
class Question {
 public:
  Question(const char* program, const char* const* words) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (posix_spawnp(&process_, program, &files, &attributes, const_cast<char* const*>(words),
                     environ) != 0)
      process_ = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    close(ends[1]);
    answer_ = ends[0];
  }
  ~Question() {
    if (answer_ >= 0) close(answer_);
    if (process_ < 0) return;
    kill(process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  std::string answer() {
    std::string text;
    if (process_ < 0) return text;
    const auto until = std::chrono::steady_clock::now() + patience;
    while (text.size() < longest_answer) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          until - std::chrono::steady_clock::now());
      pollfd file{answer_, POLLIN, 0};
      if (left.count() <= 0 || poll(&file, 1, int(left.count())) != 1) return {};
      char part[512];
      const ssize_t length = read(answer_, part, sizeof part);
      if (length <= 0) break;
      text.append(part, std::size_t(length));
    }
    return text;
  }

 private:
  pid_t process_ = -1;
  int answer_ = -1;
};

}  // namespace

std::optional<base::Joules> slurm_energy(const std::string& job, const std::string& step,
                                         const std::string& sacct) {
  const std::string which = fmt::format("{}.{}", job, step);
  const char* const words[] = {sacct.c_str(),       "-n",   "-P", "-j", which.c_str(), "-o",
                               "ConsumedEnergyRaw", nullptr};
  const std::string text = Question(sacct.c_str(), words).answer();
  double joules = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), joules);
  // Slurm says 0 where nothing counts.
  if (error != std::errc() || !(joules > 0) || joules > 1e18) return {};
  return base::Joules{joules};
}

}  // namespace parajoule::measure
