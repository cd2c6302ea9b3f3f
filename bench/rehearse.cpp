// Seconds and memory of rehearsals of ResNet-50 on many ranks; each in a process of its own, so
// that the most memory is its own.    bench_rehearse [RANKS STEPS [STRATEGY]]
//
// Without words: 1024 ranks x 100 steps (to be under 2 s), and 65536 x 3 and 1048576 x 3, each with
// synchronous and local_sgd (65536: within 15 s and 2 GB).

#include <chrono>
#include <cstdlib>
#include <iostream>
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

void measure(int ranks, std::int64_t steps, const std::string& strategy) {
  const auto begun = std::chrono::steady_clock::now();
  const rehearse::Outcome outcome = rehearse::run(rehearsal(ranks, steps, strategy));
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begun;
  check(outcome);
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const double user = double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                      1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  std::cout << fmt::format(
                   "{:>8} ranks x {:>3} steps  {:<12} {:7.2f} s wall {:7.2f} s processor {:6.2f} GB"
                   "   (simulated: {:.4f} s a step)\n",
                   ranks, steps, strategy, wall.count(), user, double(usage.ru_maxrss) / 1e6,
                   outcome.per_step.count())
            << std::flush;
}

void apart(int ranks, std::int64_t steps, const std::string& strategy) {
  const pid_t child = fork();
  if (child == 0) {
    measure(ranks, steps, strategy);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count >= 3) {
    measure(std::atoi(words[1]), std::atoll(words[2]), count > 3 ? words[3] : "synchronous");
    return 0;
  }
  for (const char* strategy : {"synchronous", "local_sgd"}) {
    apart(1024, 100, strategy);
    apart(65536, 3, strategy);
    apart(1048576, 3, strategy);
  }
}
