// parajoule-train: everything that needs torch or MPI. `parajoule` starts it; people need not.

#include <exception>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/cause.h"
#include "cli/check.h"
#include "cli/cores.h"
#include "cli/data_sets.h"
#include "cli/example.h"
#include "cli/exit_status.h"
#include "cli/one_line.h"
#include "cli/other_meters.h"
#include "cli/parts.h"
#include "cli/process.h"
#include "cli/rank.h"
#include "cli/shown.h"
#include "cli/standard_streams.h"
#include "cli/surroundings.h"
#include "cli/trace_rank.h"
#include "cli/vocabulary.h"

namespace {

using namespace parajoule;

/// What the command line says.
struct Words {
  cli::RankOptions run;
  std::string folder;
  std::string name;
  bool backend = false;
  bool check = false;
  bool example = false;
  bool keys = false;
  bool models = false;
  bool profile = false;
  std::string input;
  std::optional<int> classes;
  bool fresh = false;
  bool settings = false;
  std::string data;
  cli::DataWords data_words;
  bool trace = false;
  cli::TraceWords trace_words;
  std::vector<std::string> as_given;
};

void declare(CLI::App& app, Words& words) {
  app.add_option("experiment", words.run.request.path);
  app.add_option("--ranks", words.run.request.ranks);
  app.add_option("--set", words.run.request.set)->allow_extra_args(false);
  cli::add_other_meters(app, words.run.meters, cli::WallFiles::taken);
  app.add_option("--run", words.folder);
  app.add_option("--name", words.name);
  app.add_flag("--fresh", words.fresh);
  app.add_flag("--backend", words.backend);
  app.add_flag("--check", words.check);
  app.add_flag("--example", words.example);
  app.add_flag("--keys", words.keys);
  app.add_flag("--models", words.models);
  app.add_flag("--profile", words.profile);
  app.add_option("--input", words.input);
  app.add_option("--classes", words.classes)->check(CLI::Range(1, 1'000'000));
  app.add_flag("--settings", words.settings);
  app.add_option("--data", words.data);
  app.add_flag("--trace", words.trace);
  app.add_option("--strategy", words.trace_words.strategy);
  app.add_option("--steps", words.trace_words.steps);
  app.add_option("--to", words.data_words.folder);
  app.add_option("--samples", words.data_words.samples)->check(CLI::Range(1L, 1'000'000'000L));
  app.add_option("--quality", words.data_words.quality)->check(CLI::Range(1, 100));
}

std::string joined(int count, char** words) {
  std::string line = "parajoule train";
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const bool ours = word.starts_with("--run=") || word == "--";
    if (!ours) line += ' ' + std::string(word);
  }
  return line;
}

int act_on_data(Words& words) {
  words.data_words.name = words.name;
  words.data_words.set = words.run.request.set;
  if (words.data == "check") return cli::check_data(words.data_words);
  if (words.data == "prepare") return cli::prepare_data(words.data_words);
  std::cout << cli::shown_data_sets(words.name);
  return cli::done;
}

int trace(Words& words) {
  words.trace_words.file = words.run.request.path;
  words.trace_words.set = words.run.request.set;
  words.trace_words.ranks = words.run.request.ranks;
  return cli::trace_rank(words.trace_words);
}

/// OpenBLAS chooses its kernel while it is loaded, so a better one needs a new start. The launcher
/// sees to that for the ranks it starts.
void begin_with_better_kernel(const std::vector<std::string>& words) {
  const auto better = cli::better_kernel_here();
  if (!better) return;
  if (cli::speaks_for_all(cli::environment)) {
    std::cerr << "parajoule: " << better->reason << '\n' << std::flush;
  }
  cli::Command again{.words = words, .environment = {{better->variable, better->value}}};
  again.words[0] = cli::own_program();
  cli::become(again);
}

int act(Words& words) {
  if (!words.data.empty()) return act_on_data(words);
  if (words.trace) return trace(words);
  words.run.begin = words.fresh ? cli::Begin::afresh : cli::Begin::resume_if_possible;
  if (words.backend) std::cout << cli::written(cli::backend_here());
  if (words.example) std::cout << cli::example(cli::vocabulary());
  if (words.keys) std::cout << cli::page(cli::vocabulary());
  if (words.models) std::cout << cli::shown_models(words.name);
  if (words.profile)
    std::cout << cli::model_profile(
        {words.name, words.run.request.set, words.input, words.classes});
  if (words.check) std::cout << cli::written(cli::check(words.run));
  if (words.settings) {
    std::cout << cli::shown_settings(cli::read_experiment(words.run.request, cli::vocabulary()));
  }
  if (words.backend || words.example || words.keys || words.models || words.profile ||
      words.check || words.settings) {
    return cli::done;
  }
  if (words.folder.empty()) begin_with_better_kernel(words.as_given);
  if (!words.folder.empty()) words.run.folder = words.folder;
  return cli::run_rank(words.run);
}

}  // namespace

int main(int count, char** arguments) {
  cli::open_missing_streams();
  try {
    CLI::App app("The part of parajoule that trains; start it with `parajoule train`.");
    Words words;
    words.run.request.records = cli::environment("PARAJOULE_RECORDS");
    words.run.request.cores = cli::usable_cores();
    words.run.command = joined(count, arguments);
    words.as_given.assign(arguments, arguments + count);
    declare(app, words);
    app.parse(count, arguments);
    return cli::with_output_written(act(words));
  } catch (const CLI::ParseError& error) {
    std::cerr << "parajoule: " << cli::one_line(error.what()) << '\n';
    return cli::wrong_usage;
  } catch (...) {
    return cli::tell_failure(std::current_exception());
  }
}
