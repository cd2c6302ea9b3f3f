// Every method of the catalog over MPI on a slow network, with sleeps in place of computing: what a
// step takes beside computing alone and communication alone, and beside its rehearsal on links that
// are fitted in the same run.
//
//   bench/network.sh [ARGUMENT...]
//   bench_network CASES PROFILE [ROUNDS [STEPS [MEGABYTES [RATIO...]]]]
//   bench_network --machine FILE PROFILE [ROUNDS [MEGABYTES]]     only the links, into a file
//
// MEGABYTES: of all gradients; the profile's layers are scaled to it. RATIO: a pass takes so many
// times what the sum of all gradients takes alone.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "bench/measured_links.h"
#include "bench/network_cases.h"
#include "bench/sleeping_worker.h"
#include "bench/spread.h"
#include "comm/mpi.h"
#include "comm/sums.h"
#include "rehearse/profile_file.h"
#include "rehearse/rehearsal.h"

namespace parajoule::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Computes = SleepingWorker::Computes;

struct Arguments {
  std::string cases;
  std::string profile;
  int rounds = 5;
  std::int64_t steps = 6;
  double megabytes = 10;
  std::vector<double> ratios = {};
};

/// What was seen of one case.
struct Seen {
  std::string refused = {};  ///< why it cannot run here
  std::vector<double> step = {};
  std::vector<double> communication = {};  ///< of the same steps without computing
};

schedule::Profile scaled(schedule::Profile profile, double megabytes) {
  const double factor = megabytes * 1e6 / 4 / double(profile.total().parameters);
  for (schedule::LayerProfile& layer : profile.layers)
    layer.parameters = std::llround(std::ceil(double(layer.parameters) * factor));
  return profile;
}

class Bench {
 public:
  Bench(comm::Communicator& world, const Arguments& arguments)
      : world_(world),
        arguments_(arguments),
        nodes_(world.nodes()),
        profile_(scaled(rehearse::read_profile(arguments.profile), arguments.megabytes)),
        cases_(cases_in(arguments.cases)),
        links_(world, count()) {
    for (int round = 0; round < arguments_.rounds; ++round) links_.measure();
    links_.fit();
    if (world_.rank() != 0) return;
    fmt::print("{} ranks on {} nodes, gradients of {:.2f} MB in {} parameters; {} rounds\n",
               world_.size(), nodes_.count(), 4e-6 * double(count()),
               rehearse::layout_of(profile_).parameters.size(), arguments_.rounds);
    links_.print();
  }

  /// All cases with passes that take `ratio` times the sum of all gradients.
  void compare(double ratio) {
    plan_ = plan(base::Seconds(ratio * links_.whole_sum()));
    std::vector<Seen> seen(cases_.size());
    std::vector<double> passes;
    for (int round = 0; round < arguments_.rounds; ++round) {
      passes.push_back(pass());
      for (std::size_t i = 0; i < cases_.size(); ++i) measure(cases_[i], seen[i]);
    }
    say(ratio, seen, passes);
  }

 private:
  std::size_t count() const { return std::size_t(profile_.total().parameters); }

  rehearse::Plan plan(base::Seconds pass) const {
    rehearse::Machine machine;
    machine.flops_per_second["float32"] = 1e12;
    machine.device.memory_bytes_per_second = 1e11;
    rehearse::Plan plan{.layers = rehearse::layer_times(profile_, machine, "float32", 1),
                        .layout = rehearse::layout_of(profile_),
                        .memory_bytes_per_second = *links_.machine.device.memory_bytes_per_second,
                        .momentum = 0.0,
                        .learning_rate = 0.1,
                        .local_batch_size = 8,
                        .steps = arguments_.steps};
    rehearse::stretch(plan.layers, pass);
    return plan;
  }

  /// All ranks again: what is allocated there goes with it.
  std::unique_ptr<comm::Communicator> apart() const {
    std::vector<int> ranks(std::size_t(world_.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    return world_.group(ranks);
  }

  /// A pass and an update alone.
  double pass() {
    const auto everyone = apart();
    SleepingWorker worker(*everyone, plan_, Computes::in_time);
    strategy::Watch nothing;
    return timed(world_, [&] {
      worker.compute_gradients(nothing);
      worker.update();
    });
  }

  void measure(const Case& one, Seen& seen) {
    if (!seen.refused.empty()) return;
    try {
      seen.communication.push_back(run(one, Computes::at_once));
      seen.step.push_back(run(one, Computes::in_time));
    } catch (const base::Error& error) {
      if (error.fault != base::Fault::usage) throw;
      seen.refused = error.what();
    }
  }

  /// Seconds a step, from the end of the first to the end of the last.
  double run(const Case& one, Computes computes) {
    const strategy::Method& method = strategy::method(one.method);
    std::int64_t training = 0;
    bool trains = false;
    for (int rank = 0; rank < world_.size(); ++rank) {
      const bool this_one =
          method.part(rank, world_.size(), nodes_, one.options).trains.has_value();
      training += this_one;
      if (rank == world_.rank()) trains = this_one;
    }
    rehearse::Plan plan = plan_;
    plan.ranks_that_train = training;
    const auto everyone = apart();
    comm::Summing summing(*everyone, comm::sum(one.sum));
    const auto strategy = method.make(summing, one.options);
    SleepingWorker worker(summing, plan, computes);
    world_.barrier();
    const auto begin = Clock::now();
    double first = 0, last = 0;
    for (std::int64_t step = 0; trains && step < plan.steps; ++step) {
      worker.begin_step(step);
      strategy->step(worker);
      last = base::Seconds(Clock::now() - begin).count();
      if (step == 0) first = last;
    }
    if (trains)
      strategy->leave(worker);
    else
      strategy->serve(worker);
    strategy->finish(worker);
    return (world_.maximum(last) - world_.maximum(first)) / double(plan.steps - 1);
  }

  double rehearsed(const Case& one) const {
    rehearse::Rehearsal r;
    r.ranks = world_.size();
    r.ranks_per_node = links_.machine.devices;
    r.strategy = one.method;
    r.options = one.options;
    r.sum = simulate::sum_named(one.sum);
    r.machine = links_.machine;
    r.plan = plan_;
    return rehearse::run(r).per_step.count();
  }

  void say(double ratio, const std::vector<Seen>& seen, const std::vector<double>& passes) const {
    if (world_.rank() != 0) return;
    const double compute = median(passes);
    fmt::print("\na pass takes {} times the sum: computing alone {} ms\n", ratio,
               spread(passes, 1e3));
    fmt::print("milliseconds a step: median (least ... most)\n");
    fmt::print("{:62} {:>26} {:>8} {:>7} {:>9} {:>8}\n", "", "step", "alone", "/larger",
               "rehearsed", "off");
    std::vector<double> off;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      if (!seen[i].refused.empty()) {
        fmt::print("{:62} refused: {}\n", cases_[i].label, seen[i].refused);
        continue;
      }
      off.push_back(say(cases_[i], seen[i], compute));
    }
    for (double& one : off) one = std::abs(one);
    fmt::print("rehearsed against measured: median {:.1f} %, most {:.1f} %\n", 100 * median(off),
               100 * *std::ranges::max_element(off));
  }

  /// What a step takes at least, however well its sums hide behind computing.
  double least(const Case& one, double compute, double alone) const {
    base::Seconds forward{0};
    for (const rehearse::LayerTime& layer : plan_.layers) forward += layer.forward;
    const double before = one.hides == Case::Hides::pass ? compute * (forward / plan_.pass()) : 0;
    return std::max(compute, before + alone);
  }

  /// Returns how far the rehearsal is off.
  double say(const Case& one, const Seen& seen, double compute) const {
    const double step = median(seen.step);
    const double alone = median(seen.communication);
    const double larger = std::max(compute, alone);
    const double virtually = rehearsed(one);
    const double off = virtually / step - 1;
    const char* verdict = "";
    if (one.hides != Case::Hides::nothing)
      verdict = step <= 1.15 * least(one, compute, alone) ? "hidden" : "NOT HIDDEN";
    fmt::print("{:62} {:>26} {:8.1f} {:7.2f} {:9.1f} {:+6.1f} %  {}\n", one.label,
               spread(seen.step, 1e3), 1e3 * alone, step / larger, 1e3 * virtually, 100 * off,
               verdict);
    std::fflush(stdout);
    return off;
  }

  comm::Communicator& world_;
  const Arguments& arguments_;
  comm::Nodes nodes_;
  schedule::Profile profile_;
  std::vector<Case> cases_;
  MeasuredLinks links_;
  rehearse::Plan plan_;
};

Arguments arguments_in(int count, char** words) {
  if (count < 3)
    throw base::Error(base::Fault::usage,
                      "bench_network CASES PROFILE [ROUNDS [STEPS [MEGABYTES [RATIO...]]]] or "
                      "bench_network --machine FILE PROFILE [ROUNDS [MEGABYTES]]");
  Arguments arguments{.cases = words[1], .profile = words[2]};
  if (count > 3) arguments.rounds = std::atoi(words[3]);
  if (count > 4) arguments.steps = std::atoll(words[4]);
  if (count > 5) arguments.megabytes = std::atof(words[5]);
  for (int i = 6; i < count; ++i) arguments.ratios.push_back(std::atof(words[i]));
  if (arguments.ratios.empty()) arguments.ratios = {1, 2};
  return arguments;
}

/// Measures the links with all gradients of the profile, or with MEGABYTES.
void write_machine(comm::Communicator& world, int count, char** words) {
  if (count < 4)
    throw base::Error(base::Fault::usage,
                      "bench_network --machine FILE PROFILE [ROUNDS [MEGABYTES]]");
  schedule::Profile profile = rehearse::read_profile(words[3]);
  if (count > 5) profile = scaled(profile, std::atof(words[5]));
  MeasuredLinks links(world, std::size_t(profile.total().parameters));
  const int rounds = count > 4 ? std::atoi(words[4]) : 5;
  for (int round = 0; round < rounds; ++round) links.measure();
  links.fit();
  if (world.rank() != 0) return;
  links.print();
  links.write(words[2]);
}

}  // namespace
}  // namespace parajoule::bench

int main(int count, char** words) {
  using namespace parajoule;
  comm::Mpi mpi;
  try {
    mpi.run([&](comm::Communicator& world) {
      if (count > 1 && std::string_view(words[1]) == "--machine")
        return bench::write_machine(world, count, words);
      const bench::Arguments arguments = bench::arguments_in(count, words);
      bench::Bench bench(world, arguments);
      for (double ratio : arguments.ratios) bench.compare(ratio);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    mpi.abort(1);
  }
}
