// parajoule rehearse: what a run would take, in virtual time.

#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/measure_options.h"
#include "cli/rehearsal_output.h"
#include "cli/rehearsal_request.h"
#include "cli/timeline.h"

namespace parajoule::cli {
namespace {

constexpr std::int64_t most_steps = 1'000'000'000;
constexpr std::int64_t most_samples = 1'000'000'000;

struct Arguments {
  RehearsalRequest request;
  std::string timeline;
  std::optional<std::string> records;
  bool no_record = false;
};

std::string typed(const Arguments& arguments) {
  std::vector<std::string> words{"parajoule", "rehearse", arguments.request.experiment, "--machine",
                                 arguments.request.machine};
  if (arguments.request.ranks)
    words.insert(words.end(), {"--ranks", fmt::format("{}", *arguments.request.ranks)});
  if (arguments.request.steps > 0)
    words.insert(words.end(), {"--steps", fmt::format("{}", arguments.request.steps)});
  if (arguments.request.samples > 0)
    words.insert(words.end(), {"--samples", fmt::format("{}", arguments.request.samples)});
  for (const std::string& set : arguments.request.set) words.insert(words.end(), {"--set", set});
  return as_typed(words);
}

void check(const RehearsalRequest& request) {
  const auto refuse = [](const std::string& what) { throw base::Error(base::Fault::usage, what); };
  if (request.machine.empty())
    refuse("rehearse needs --machine FILE, such as machines/a100-hdr.toml");
  if (request.ranks && *request.ranks < 1)
    refuse(fmt::format("--ranks {}: must be at least 1", *request.ranks));
  constexpr double most_seconds = 1e6;
  if (request.pass_seconds && !(*request.pass_seconds > 0 && *request.pass_seconds <= most_seconds))
    refuse(fmt::format("--pass-seconds {}: must be above 0 and at most {}", *request.pass_seconds,
                       most_seconds));
}

int rehearse(const Arguments& arguments) {
  check(arguments.request);
  RehearsalPlan plan = rehearsal_of(arguments.request);
  for (const std::string& remark : plan.remarks) std::cerr << "parajoule: " << remark << '\n';
  std::optional<Timeline> timeline;
  if (!arguments.timeline.empty()) {
    timeline.emplace(arguments.timeline);
    plan.rehearsal.on_span = [&](const simulate::Span& span) {
      timeline->span(
          span.rank,
          span.lane == simulate::Span::Lane::device ? Timeline::Lane::device : Timeline::Lane::link,
          span.what, span.begin, span.end);
    };
  }
  const rehearse::Outcome outcome = rehearse::run(plan.rehearsal);
  if (timeline) timeline->finish();
  std::cout << rehearsal_text(plan, outcome);
  if (arguments.no_record) return done;
  const auto path =
      write_rehearsal(plan, outcome, arguments.records.value_or(plan.records), typed(arguments));
  std::cout << "record " << path.string() << '\n';
  return done;
}

}  // namespace

void add_rehearse(CLI::App& app, Chosen& chosen) {
  auto* command =
      app.add_subcommand("rehearse", "what a run would take, simulated: time, traffic, energy");
  auto arguments = std::make_shared<Arguments>();
  RehearsalRequest& request = arguments->request;
  command->add_option("experiment", request.experiment, "what would be trained")
      ->type_name("FILE")
      ->required();
  command->add_option("--machine", request.machine, "what it would be trained on")
      ->type_name("FILE");
  command->add_option("--ranks", request.ranks, "whatever the file says")->type_name("N");
  command
      ->add_option("--steps", request.steps,
                   "of each rank; left out: those of the experiment, or 10")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t(1), most_steps));
  command
      ->add_option("--set", request.set,
                   "overrides the file: strategy=local_sgd, slow.rank=3; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag("--expand", request.expand,
                    "run the messages of each sum in place of its formula; for few ranks");
  command
      ->add_option("--profile", request.profile,
                   "what the layers of the model cost; left out: models/MODEL.toml")
      ->type_name("FILE");
  command
      ->add_option("--pass-seconds", request.pass_seconds,
                   "measured: of one batch forward and backward, in place of the data sheet's")
      ->type_name("SECONDS");
  command
      ->add_option("--samples", request.samples,
                   "in the training set, for methods that choose among them")
      ->type_name("N")
      ->check(CLI::Range(std::int64_t(1), most_samples));
  command
      ->add_option("--timeline", arguments->timeline,
                   "write what each rank does and when, for Perfetto or chrome://tracing")
      ->type_name("FILE");
  command->add_option("--records", arguments->records, "folder of the record")->type_name("FOLDER");
  command->add_flag("--no-record", arguments->no_record, "print only");
  command->footer(
      "All numbers are simulated, from the machine's file; nothing is measured and nothing is\n"
      "trained: losses are zero.");
  command->callback(
      [arguments, &chosen] { chosen = [arguments] { return rehearse(*arguments); }; });
}

}  // namespace parajoule::cli
