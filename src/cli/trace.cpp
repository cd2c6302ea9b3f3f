// parajoule trace: a method on a problem that can be checked by hand, step by step.

#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/launch.h"
#include "cli/process.h"
#include "cli/tracing.h"
#include "comm/threads.h"
#include "exact/virtual.h"

namespace parajoule::cli {
namespace {

constexpr std::int64_t most_steps = 1'000'000'000;

struct Arguments {
  TraceWords words;
  std::string world = "threads";
  bool example = false;
};

std::vector<exact::Line> over_threads(const Tracing& tracing) {
  std::vector<exact::Line> lines;
  const comm::Threads threads(tracing.ranks(), {.ranks_per_node = tracing.ranks_per_node()});
  threads.run([&](comm::Communicator& world) {
    auto known = tracing.take_part(world, exact::real_clock());
    if (world.rank() == 0) lines = std::move(known);
  });
  return lines;
}

std::vector<exact::Line> in_virtual_time(const Tracing& tracing) {
  std::vector<exact::Line> lines;
  simulate::World virtual_world(
      tracing.ranks(), exact::virtual_options(tracing.problem(), tracing.ranks_per_node()));
  virtual_world.run([&](comm::Communicator& world) {
    auto known = tracing.take_part(world, exact::clock_of(virtual_world));
    if (world.rank() == 0) lines = std::move(known);
  });
  return lines;
}

/// The ranks are processes of the other program, which reads the same words.
[[noreturn]] void over_mpi(const Tracing& tracing, const TraceWords& words) {
  std::vector<std::string> program = {train_program(), "--trace", "--strategy=" + words.strategy,
                                      fmt::format("--steps={}", words.steps),
                                      fmt::format("--ranks={}", tracing.ranks())};
  for (const std::string& assignment : words.set) program.push_back("--set=" + assignment);
  program.insert(program.end(), {"--", words.file});
  const LaunchFacts facts{.ranks = tracing.ranks(), .ranks_on_node = tracing.ranks()};
  become(starter(facts, program));
}

int trace(const Arguments& arguments) {
  if (arguments.example) {
    std::cout << exact::example_problem();
    return done;
  }
  if (arguments.words.file.empty())
    throw base::Error(base::Fault::usage,
                      "trace needs a problem file; `parajoule trace --example > problem.json` "
                      "writes one");
  const Tracing tracing(arguments.words);
  if (arguments.world == "mpi") over_mpi(tracing, arguments.words);
  print(arguments.world == "virtual" ? in_virtual_time(tracing) : over_threads(tracing));
  return done;
}

}  // namespace

void add_trace(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("trace", "any method on a tiny exact problem, weights step by step");
  auto arguments = std::make_shared<Arguments>();
  TraceWords& words = arguments->words;
  command->add_option("problem", words.file, "what to solve: see --example")->type_name("FILE");
  command->add_option("--strategy", words.strategy, "the method: see `parajoule strategies`")
      ->type_name("NAME");
  command
      ->add_option("--set", words.set,
                   "an option of the method, or sum=ring, ranks_per_node=2; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--steps", words.steps, "of each rank; 10 if not said")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t(0), most_steps));
  command->add_option("--ranks", words.ranks, "all of them, also those that only serve")
      ->type_name("N")
      ->check(CLI::Range(1, most_ranks));
  command
      ->add_option("--world", arguments->world,
                   "what the ranks are: threads, virtual (time) or mpi")
      ->type_name("WORLD")
      ->check(CLI::IsMember({"threads", "virtual", "mpi"}));
  command->add_flag("--example", arguments->example,
                    "print a problem file with every key explained");
  command->callback([arguments, &chosen] { chosen = [arguments] { return trace(*arguments); }; });
}

}  // namespace parajoule::cli
