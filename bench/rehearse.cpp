// Seconds and memory of rehearsals of ResNet-50 on many ranks; each in a process of its own, so
// that the most memory is its own.
//
//   bench_rehearse CASES                   a line each: RANKS STEPS STRATEGY [SECONDS GIGABYTES]
//   bench_rehearse RANKS STEPS STRATEGY    in this process, for a profiler
//
// SECONDS and GIGABYTES are what it is to stay below.

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "rehearse/profile_file.h"
#include "rehearse/rehearsal.h"
#include "strategy/catalog.h"

namespace {

using namespace parajoule;

constexpr double infinity = std::numeric_limits<double>::infinity();

rehearse::Rehearsal rehearsal(int ranks, std::int64_t steps, const std::string& strategy) {
  const std::string folder = PARAJOULE_SOURCE;
  const auto profile = rehearse::read_profile(folder + "/models/resnet50.toml");
  rehearse::Rehearsal r;
  r.machine = rehearse::read_machine(folder + "/machines/a100-hdr.toml");
  r.ranks = ranks;
  r.ranks_per_node = r.machine.devices;
  r.strategy = strategy;
  r.options = base::Settings(strategy, strategy::method(strategy).options, {});
  r.plan = {.layers = rehearse::layer_times(profile, r.machine, "float32", 64),
            .layout = rehearse::layout_of(profile),
            .memory_bytes_per_second = *r.machine.device.memory_bytes_per_second,
            .state_vectors = 1,
            .local_batch_size = 64,
            .steps = steps};
  return r;
}

/// All ranks compute for equally long: whatever they wait for, a step is at least that.
void check(const rehearse::Outcome& outcome) {
  base::ensure(outcome.per_step >= outcome.pass, "a step takes at least its pass");
  base::ensure(outcome.span.count() > 0, "time has passed");
}

struct Case {
  int ranks = 1;
  std::int64_t steps = 1;
  std::string strategy;
  double most_seconds = infinity;
  double most_gigabytes = infinity;
};

void measure(const Case& one) {
  const auto begun = std::chrono::steady_clock::now();
  const rehearse::Outcome outcome = rehearse::run(rehearsal(one.ranks, one.steps, one.strategy));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  check(outcome);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double user = double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  const double gigabytes = double(usage.ru_maxrss) / 1e6;
  const bool targeted = one.most_seconds < infinity;
  const bool met = wall.count() < one.most_seconds && gigabytes < one.most_gigabytes;
  std::cout << fmt::format(
                   "{:>8} ranks x {:>3} steps  {:<12} {:7.2f} s wall {:7.2f} s processor {:6.2f} GB"
                   "   {:.4f} s a step, simulated   {}\n",
                   one.ranks, one.steps, one.strategy, wall.count(), user, gigabytes,
                   outcome.per_step.count(),
                   !targeted ? ""
                   : met     ? "met"
                             : "MISSED")
            << std::flush;
}

void apart(const Case& one) {
  const pid_t child = fork();
  if (child == 0) {
    measure(one);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

Case case_in(const std::string& line) {
  std::istringstream words(line);
  Case one;
  words >> one.ranks >> one.steps >> one.strategy;
  base::ensure(!words.fail(), "a case is RANKS STEPS STRATEGY [SECONDS GIGABYTES]: " + line);
  words >> one.most_seconds >> one.most_gigabytes;
  return one;
}

}  // namespace

int main(int count, char** words) {
  if (count == 4) {
    measure({.ranks = std::atoi(words[1]), .steps = std::atoll(words[2]), .strategy = words[3]});
    return 0;
  }
  std::ifstream file(count == 2 ? words[1] : "");
  if (!file) {
    std::cerr << "bench_rehearse CASES, or RANKS STEPS STRATEGY\n";
    return 2;
  }
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#') apart(case_in(line));
}
