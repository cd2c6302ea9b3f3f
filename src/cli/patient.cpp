#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include <sys/statvfs.h>

#include "cli/doctor.h"

namespace parajoule::cli {
namespace {

constexpr base::Seconds longest_answer{20};
constexpr base::Seconds slow{1};
constexpr std::chrono::milliseconds between_looks{5};

/// Keeps what has arrived; a pipe that nobody empties would stop the program.
void take_output(Child& child, Answer& answer) {
  while (const auto text = child.read(Child::output)) {
    if (text->empty()) break;
    answer.output += *text;
  }
  while (const auto text = child.read(Child::errors)) {
    if (text->empty()) break;
    answer.errors += *text;
  }
}

std::optional<std::uint64_t> size_of(const std::filesystem::path& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) return {};
  return std::uint64_t(status.f_blocks) * status.f_frsize;
}

bool has_avx2() {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

}  // namespace

Answer asked(const Command& command, base::Seconds limit, const WhenSlow& when_slow) {
  bool told = !when_slow;
  Answer answer{.how = Answer::How::ended};
  try {
    Child child(command);
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Exit> exit;
    while (!(exit = child.ended()) && std::chrono::steady_clock::now() - begin < limit) {
      take_output(child, answer);
      if (!told && std::chrono::steady_clock::now() - begin > slow) {
        when_slow(command, limit);
        told = true;
      }
      std::this_thread::sleep_for(between_looks);
    }
    take_output(child, answer);
    if (exit) {
      answer.exit = *exit;
    } else {
      child.kill_group();
      child.wait();
      answer.how = Answer::How::late;
    }
  } catch (const NotStarted&) {
    answer.how = Answer::How::not_found;
  }
  return answer;
}

Patient this_machine(const WhenSlow& when_slow) {
  return {.processors = meter::own_cores(),
          .avx2 = has_avx2(),
          .train_program = train_program(),
          .environment = environment,
          .ask = [when_slow](
                     const Command& command) { return asked(command, longest_answer, when_slow); },
          .size_of = size_of};
}

Findings examined(const Patient& patient) {
  Findings all;
  for (const auto look : {machine_findings, program_findings, meter_findings, cluster_findings})
    std::ranges::move(look(patient), std::back_inserter(all));
  return all;
}

}  // namespace parajoule::cli
