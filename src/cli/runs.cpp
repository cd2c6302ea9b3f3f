// parajoule runs: lists, shows, exports, merges, recomputes and compares the records of runs.

#include "cli/runs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/energy_text.h"
#include "cli/exit_status.h"
#include "cli/live.h"
#include "cli/measure_parts.h"
#include "cli/measure_text.h"
#include "cli/one_line.h"
#include "cli/perun.h"
#include "cli/runs_compare.h"
#include "cli/summary.h"
#include "cli/timeline.h"
#include "cli/told.h"
#include "cli/whole_training.h"
#include "measure/account.h"
#include "measure/join.h"
#include "measure/merge.h"
#include "store/export.h"
#include "store/folder.h"

namespace parajoule::cli {
namespace {

using std::filesystem::path;

struct Arguments {
  std::string records;
  std::string run = "last";
  std::size_t newest = 20;
  bool all = false;
  bool csv = false;
  bool json = false;
  std::string table;
  std::string to;
  std::vector<std::string> files;
  std::string wall;
  int node = 0;
  std::string perun;
  std::string timeline;
  std::vector<std::string> sides;
  std::vector<std::string> limits;
};

int list(const Arguments& arguments) {
  const path folder = records_folder(arguments.records);
  const std::vector<path> files = store::records_in(folder);
  if (files.empty()) {
    std::cout << fmt::format("no records in the folder '{}'\n", shown(folder.string()));
    return 0;
  }
  const std::size_t count = arguments.all ? files.size() : std::min(files.size(), arguments.newest);
  std::cout << list_text(std::span(files).first(count), look_of(STDOUT_FILENO),
                         standard_output().columns().value_or(most_columns));
  if (count < files.size())
    std::cout << fmt::format("the newest {} of {}; --all lists every one\n", count, files.size());
  return 0;
}

int show(const Arguments& arguments) {
  const path file = store::find_record(records_folder(arguments.records), arguments.run);
  std::cout << run_text(file, look_of(STDOUT_FILENO));
  return 0;
}

std::ofstream opened(const path& file) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot write the file '{}': {}; name another place with --to",
                                  file.string(), std::strerror(errno)));
  return out;
}

void export_tables(const store::Reader& record, const path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot make the folder '{}': {}; name another place with --to",
                                  folder.string(), failed.message()));
  for (const std::string_view table : store::tables()) {
    std::ofstream out = opened(folder / fmt::format("{}.csv", table));
    store::export_csv(record, table, out);
  }
}

/// The forms that are named with their file.
int export_one_file(const Arguments& arguments) {
  if (!arguments.table.empty() || !arguments.to.empty())
    throw base::Error(base::Fault::usage,
                      fmt::format("runs export --{} has one file: leave "
                                  "--table and --to out",
                                  arguments.perun.empty() ? "timeline" : "perun"));
  const store::Reader record(store::find_record(records_folder(arguments.records), arguments.run));
  if (arguments.perun.empty())
    write_timeline(record, arguments.timeline);
  else
    write_perun(record, arguments.perun);
  return done;
}

int export_record(const Arguments& arguments) {
  const bool one_file = !arguments.perun.empty() || !arguments.timeline.empty();
  if (int(arguments.csv) + int(arguments.json) + int(!arguments.perun.empty()) +
          int(!arguments.timeline.empty()) !=
      1)
    throw base::Error(base::Fault::usage,
                      "runs export takes one of --csv, --json, --perun FILE and --timeline FILE");
  if (one_file) return export_one_file(arguments);
  if (arguments.csv && arguments.table.empty() == arguments.to.empty())
    throw base::Error(base::Fault::usage,
                      "runs export --csv takes either --table NAME, which is written to standard "
                      "output, or --to FOLDER for a file of each table");
  if (arguments.json && !arguments.table.empty())
    throw base::Error(base::Fault::usage, "runs export --json has all tables; leave --table out");
  const store::Reader record(store::find_record(records_folder(arguments.records), arguments.run));
  if (arguments.csv && !arguments.to.empty()) {
    export_tables(record, arguments.to);
  } else if (arguments.csv) {
    store::export_csv(record, arguments.table, std::cout);
  } else if (!arguments.to.empty()) {
    std::ofstream out = opened(arguments.to);
    store::export_json(record, out);
  } else {
    store::export_json(record, std::cout);
  }
  return 0;
}

int merge_records(const Arguments& arguments) {
  const std::vector<path> files(arguments.files.begin(), arguments.files.end());
  const auto file = measure::merge(files, records_folder(arguments.records));
  if (!file)
    throw base::Error(base::Fault::usage, "the folder of records has these merged already");
  std::cout << run_text(*file, look_of(STDOUT_FILENO));
  if (const std::string why = keep_told(*file); !why.empty())
    throw base::Error(base::Fault::environment, why);
  return 0;
}

int join_wall(const Arguments& arguments) {
  const path file = store::find_record(records_folder(arguments.records), arguments.run);
  for (const std::string& remark : measure::join(file, arguments.wall, arguments.node))
    std::cerr << fmt::format("parajoule: {}\n", one_line(remark));
  std::cout << run_text(file, look_of(STDOUT_FILENO));
  if (const std::string why = keep_told(file); !why.empty())
    throw base::Error(base::Fault::environment, why);
  return done;
}

int recompute(const Arguments& arguments) {
  const store::Reader record(store::find_record(records_folder(arguments.records), arguments.run));
  const std::vector<Recomputed> sources = recomputed(record);
  std::cout << recomputed_text(record, sources, look_of(STDOUT_FILENO));
  switch (recount_of(sources)) {
    case Recount::differs:
      return worse;
    case Recount::unknown:
      return cannot_tell;
    case Recount::same:
      break;
  }
  return done;
}

int compare(const Arguments& arguments) {
  return compare_runs(arguments.records, arguments.sides, arguments.limits);
}

using Action = int (*)(const Arguments&);

void refuse_unknown(const std::vector<std::string>& words) {
  static constexpr std::string_view known[] = {"list",      "show", "export", "merge",
                                               "recompute", "join", "compare"};
  if (!words.empty())
    throw base::Error(base::Fault::usage, fmt::format("no command 'runs {}'{}", words.front(),
                                                      base::hint(words.front(), known)));
}

void add_export_options(CLI::App& exporting, Arguments& arguments, const std::string& which) {
  exporting.add_option("run", arguments.run, which)->type_name("RUN");
  exporting.add_flag("--csv", arguments.csv, "one table to standard output, or all to files");
  exporting.add_flag("--json", arguments.json, "all tables in one text");
  exporting.add_option("--perun", arguments.perun, "HDF5 as perun lays it out, into this file")
      ->type_name("FILE");
  exporting
      .add_option("--timeline", arguments.timeline,
                  "what each rank did and what its node drew, for Perfetto or chrome://tracing")
      ->type_name("FILE");
  exporting.add_option("--table", arguments.table, "the table that --csv writes")
      ->type_name("NAME");
  exporting
      .add_option("--to", arguments.to,
                  "folder for --csv, file for --json, instead of standard output")
      ->type_name("PATH");
}

void add_compare_options(CLI::App& comparing, Arguments& arguments) {
  comparing.add_option("sides", arguments.sides, "records, ids, folders of records, CSV of runs")
      ->required()
      ->expected(2)
      ->type_name("FIRST SECOND");
  comparing
      .add_option("--fail-if", arguments.limits,
                  "\"energy_joules>+3%\": status 1 if so, 7 if it cannot be told; may be repeated")
      ->expected(1)
      ->take_all()
      ->type_name("LIMIT");
}

}  // namespace

std::string run_text(const path& file, Look look) {
  const store::Reader record(file);
  const std::string again = show_command(file, record.run().id, records_folder(""));
  if (record.run().kind == store::Kind::measure) {
    const measure::Account account = measure::account_of(record);
    return measure_text(account,
                        {conversions_in(account), again, look, most_columns, Detail::full});
  }
  return summary_text(account_of(record), again, look) +
         section("whole training", whole_training_text(whole_training(record), look), look) +
         section("trained weights", lines_text(checkpoint_of(record)), look);
}

void add_runs(CLI::App& app, Chosen& chosen) {
  CLI::App* runs = app.add_subcommand("runs", "list, show, export, merge and recompute records");
  runs->require_subcommand(0, 1);
  runs->allow_extras();  // to say what is wrong with them
  const auto arguments = std::make_shared<Arguments>();
  runs->callback([runs, &chosen, arguments] {
    if (!runs->get_subcommands().empty()) return;
    refuse_unknown(runs->remaining());
    chosen = [arguments] { return list(*arguments); };
  });
  const auto add = [&](const std::string& name, const std::string& help, Action action) {
    CLI::App* command = runs->add_subcommand(name, help);
    command
        ->add_option("--records", arguments->records,
                     "folder of the records (default: PARAJOULE_RECORDS, else records)")
        ->type_name("DIR");
    command->callback([&chosen, arguments, action] {
      chosen = [arguments, action] { return action(*arguments); };
    });
    return command;
  };
  CLI::App* listing = add("list", "one line a run, newest first", list);
  listing->add_option("--newest", arguments->newest, "how many (default: 20)")
      ->check(CLI::Range(std::size_t(1), std::size_t(1'000'000)).description(""))
      ->type_name("N");
  listing->add_flag("--all", arguments->all, "every one there is");

  const std::string which = "path, id, the beginning of an id, or last (the default)";
  CLI::App* showing = add("show", "quality, work, energy and time of one run", show);
  showing->add_option("run", arguments->run, which)->type_name("RUN");

  add_export_options(*add("export", "the rows of one run for other programs", export_record),
                     *arguments, which);

  CLI::App* recomputing =
      add("recompute", "energies again from the readings, beside what was told", recompute);
  recomputing->add_option("run", arguments->run, which)->type_name("RUN");

  CLI::App* joining = add("join", "a wall meter's own file into a record, by time", join_wall);
  joining->add_option("run", arguments->run, which)->type_name("RUN");
  joining->add_option("--wall", arguments->wall, "the file")->required()->type_name("FILE");
  joining->add_option("--node", arguments->node, "whose outlet it is (default: 0)")
      ->check(CLI::Range(0, 1'000'000).description(""))
      ->type_name("N");

  add_compare_options(*add("compare", "is the second worse than the first?", compare), *arguments);

  CLI::App* merging = add("merge", "one record of those of a job's nodes", merge_records);
  merging->add_option("files", arguments->files, "records of `parajoule measure`, one a node")
      ->required()
      ->type_name("FILE...");
}

}  // namespace parajoule::cli
