// parajoule train: checks an experiment, starts its ranks, and says how it went.

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/fields.h"
#include "cli/launch.h"
#include "cli/notes.h"
#include "cli/other_meters.h"
#include "cli/process.h"
#include "cli/run_folder.h"
#include "cli/runs.h"
#include "cli/surroundings.h"
#include "cli/told.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  std::string file;
  std::optional<int> ranks;
  std::vector<std::string> set;
  bool fresh = false;
  bool example = false;
  bool keys = false;
  bool settings = false;
  OtherMeters meters;
};

/// Of those meters that stand there, as words; what the environment names holds on all nodes.
void add_meters(const OtherMeters& meters, std::vector<std::string>& words) {
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("--{}={}", option, value));
  };
  add("meters", meters.file.empty() ? environment("PARAJOULE_METERS").value_or("") : meters.file);
  add("redfish", meters.redfish);
  add("credentials", meters.credentials);
  for (const std::string& file : meters.wall) add("wall", file);
}

/// What stands on the command line of parajoule-train, beside what it is to do.
std::vector<std::string> words(const Arguments& arguments) {
  std::vector<std::string> words;
  if (arguments.ranks) words.push_back(fmt::format("--ranks={}", *arguments.ranks));
  for (const std::string& assignment : arguments.set) words.push_back("--set=" + assignment);
  add_meters(arguments.meters, words);
  words.push_back("--");
  words.push_back(arguments.file);
  return words;
}

std::vector<std::string> how_to_begin(const Arguments& arguments) {
  if (arguments.fresh) return {"--fresh"};
  return {};
}

std::vector<std::string> program(const std::vector<std::string>& options,
                                 const Arguments& arguments) {
  std::vector<std::string> command = {train_program()};
  command.insert(command.end(), options.begin(), options.end());
  const auto rest = words(arguments);
  command.insert(command.end(), rest.begin(), rest.end());
  return command;
}

struct Checked {
  Status status = done;  ///< if it is another, the reason has been printed
  LaunchFacts facts;
};

Checked check(const Arguments& arguments) {
  std::vector<std::string> options = how_to_begin(arguments);
  options.push_back("--check");
  const Result result = run({.words = program(options, arguments)});
  if (result.exit.signal == SIGINT) return {.status = stopped, .facts = {}};
  if (result.exit.signal) {
    throw base::Error(base::Fault::bug, fmt::format("parajoule-train --check died of signal {}",
                                                    *result.exit.signal));
  }
  if (result.exit.code != 0) return {.status = Status(result.exit.code), .facts = {}};
  return {.status = done, .facts = facts_in(result.output)};
}

/// The facts of a run that nobody else has under way, and the lock that keeps it so.
struct Claimed {
  Checked checked;
  std::optional<RunLock> lock;
};

Claimed claim(const Arguments& arguments) {
  // Between the check and the lock another start may take the folder: then look again.
  for (int attempt = 0; attempt < 5; ++attempt) {
    Checked checked = check(arguments);
    if (checked.status != done) return {std::move(checked), {}};
    auto lock = RunLock::take(checked.facts.folder);
    if (lock) return {std::move(checked), std::move(lock)};
  }
  throw base::Error(base::Fault::environment,
                    "other starts of this experiment take every folder; start it again later");
}

void say(std::string_view line) {
  if (!line.empty()) std::cerr << "parajoule: " << line << '\n' << std::flush;
}

int report(const Ended& ended, const LaunchFacts& facts, const Command& command) {
  const auto notes = read_notes(notes_in(facts.folder), facts.ranks);
  if (ended.killed) {
    say(fmt::format("killed before all ranks had stopped; the last checkpoint stands in {}",
                    facts.folder.string()));
    return rank_died;
  }
  if (std::error_code error; !std::filesystem::exists(facts.folder, error)) {
    say(fmt::format("{}: the run's folder was moved or removed, and with it why the run ended",
                    facts.folder.string()));
    return no_environment;
  }
  const Verdict verdict = judge(notes, ended.exit);
  const bool never_began = verdict.status == rank_died && none_started(notes);
  if (never_began && facts.ranks > 1) {
    std::cerr << own_words(command);
    say("mpirun could not start the ranks: its own words stand above");
    return no_environment;
  }
  say(verdict.line);
  if (verdict.status == done && !notes[0]->text.empty()) {
    std::cout << run_text(notes[0]->text, look_of(STDOUT_FILENO)) << std::flush;
    if (const std::string why = keep_told(notes[0]->text); !why.empty()) say(why);
    if (!std::cout)
      say("standard output takes no more; `parajoule runs show last` shows the result");
    std::cout.clear();
  }
  return verdict.status;
}

int launch(const Arguments& arguments) {
  Signals signals;
  const Claimed claimed = claim(arguments);
  if (signals.asked_to_stop()) {
    say("stopped before the ranks were started");
    return stopped;
  }
  if (!claimed.lock) return claimed.checked.status;
  const LaunchFacts& facts = claimed.checked.facts;
  say(claimed.lock->remark());
  for (const std::string& remark : facts.remarks) say(remark);
  clear_notes(notes_in(facts.folder));
  const Command command = starter(facts, program({"--run=" + facts.folder.string()}, arguments));
  Live live(standard_output());
  const auto listening = [&facts] {
    // Where the notes are gone with their folder, it is late enough.
    if (std::error_code error; !std::filesystem::exists(facts.folder, error)) return true;
    return std::ranges::all_of(read_notes(notes_in(facts.folder), facts.ranks),
                               [](const auto& note) { return note.has_value(); });
  };
  const Ended ended =
      run_ranks(command, {.signals = signals, .live = live, .listening = listening});
  const int status = report(ended, facts, command);
  if (status == no_environment || status == wrong_usage) remove_if_nothing_began(facts.folder);
  return status;
}

int train(const Arguments& arguments) {
  if (arguments.example) become({.words = {train_program(), "--example"}});
  if (arguments.keys) become({.words = {train_program(), "--keys"}});
  if (arguments.file.empty()) {
    throw base::Error(base::Fault::usage,
                      "train needs an experiment file; `parajoule train --example > "
                      "experiment.toml` writes one");
  }
  if (arguments.settings) become({.words = program({"--settings"}, arguments)});
  std::optional<Place> place;
  try {
    place = place_in(environment);
  } catch (const base::Error& error) {
    // All that were started together find the same: one of them says so.
    if (speaks_for_all(environment)) throw;
    return status_of(error.fault);
  }
  if (place) become({.words = program(how_to_begin(arguments), arguments)});
  return launch(arguments);
}

}  // namespace

void add_train(CLI::App& app, Chosen& chosen) {
  auto* command = app.add_subcommand("train", "train a model in parallel, metered and recorded");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("experiment", arguments->file, "what to train: see --example")
      ->type_name("FILE");
  command
      ->add_option("--ranks", arguments->ranks, "processes that take part, whatever the file says")
      ->type_name("N");
  command
      ->add_option("--set", arguments->set,
                   "overrides the file: epochs=3, sgd.momentum=0.8; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_flag_callback(
      "--check-collectives", [arguments] { arguments->set.push_back("check_collectives=true"); },
      "ranks agree on every exchange before it; slow, for finding faults");
  command->add_flag("--fresh", arguments->fresh,
                    "begin anew, do not go on with a run that did not end");
  add_other_meters(*command, arguments->meters, WallFiles::taken);
  command->add_flag("--example", arguments->example,
                    "print an experiment file with every key explained");
  command->add_flag("--settings", arguments->settings,
                    "print what would hold and where it comes from; start nothing");
  command->add_flag("--keys", arguments->keys, "print the page of all keys (Markdown)");
  command->footer(
      "TERM, USR1, HUP and the first interrupt end the run at its next step with a checkpoint "
      "(status 75);\nthe same command then goes on from there. Under srun or mpirun the ranks are "
      "those started.");
  command->callback([arguments, &chosen] { chosen = [arguments] { return train(*arguments); }; });
}

}  // namespace parajoule::cli
