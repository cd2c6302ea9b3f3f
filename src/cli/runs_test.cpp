#include "cli/runs.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/summary.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using store::Record;
using store::TemporaryFolder;
using testing::HasSubstr;
using testing::Not;

/// A run of two ranks: metered from 2 s to 42 s, three steps of 10 s from 5 s on, then evaluated.
/// Its package draws 100 W, measured; its memory 3.6 W, modelled.
std::filesystem::path made_record(const TemporaryFolder& folder, std::string_view name = "mlp",
                                  int settling_steps = 0) {
  Record::Options options = store::options_in(folder);
  options.name = name;
  Record record(options);
  store::Example example;
  example.memory.part_of.reset();
  example.memory.covers = "memory of the node, 16 GiB";
  record.add(store::Setting{"settling_steps", std::to_string(settling_steps), "file"});
  record.add(example.node);
  record.add(example.package);
  record.add(example.memory);
  for (int at = 2; at <= 42; ++at)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = Seconds(at), .value = 5000 + 100.0 * at},
        {.source = 1, .seconds = Seconds(at), .value = 3.6}});
  for (int step = 0; step < 3; ++step)
    for (int rank = 0; rank < 2; ++rank) {
      const Seconds begin(5 + 10 * step);
      record.add(store::Phase{rank, "forward", begin, begin + Seconds(4)});
      record.add(store::Phase{rank, "backward", begin + Seconds(4), begin + Seconds(10)});
      record.add(store::Step{.rank = rank,
                             .step = step,
                             .seconds = begin + Seconds(10),
                             .samples = 64,
                             .loss = 1,
                             .sent_bytes = 1000,
                             .waited = {}});
    }
  record.add(store::Epoch{0, Seconds(40), "validation", "loss", 45, 100});
  record.add(store::Epoch{0, Seconds(40), "validation", "top1_error", 14, 100});
  record.add(store::Note{.seconds = {},
                         .severity = store::Severity::note,
                         .text = "not metered: GPUs: no libnvidia-ml; install the driver"});
  record.add(store::Note{.seconds = Seconds(7),
                         .rank = 1,
                         .severity = store::Severity::warning,
                         .text = "a sample was skipped"});
  record.finish(store::State::done);
  return record.path();
}

std::string summary_of(const std::filesystem::path& file, Look look = Look::plain) {
  return summary_text(account_of(store::Reader(file)), "parajoule runs show x", look);
}

/// The line of `text` that begins with `name`, without what is between its words.
std::string line_of(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::string result;
    for (std::string word; words >> word;) result += (result.empty() ? "" : " ") + word;
    return result;
  }
  return "no such line";
}

TEST(Summary, JoinsWorkAndEnergyWithMeasuredAndModelledApart) {
  const TemporaryFolder folder;
  const std::string text = summary_of(made_record(folder));
  EXPECT_EQ(line_of(text, "wall time"), "40.0 s");
  EXPECT_EQ(line_of(text, "devices (ranks that train)"), "2");
  EXPECT_EQ(line_of(text, "device hours"), "0.02222");                     // 2 * 40 s
  EXPECT_EQ(line_of(text, "samples per device hour"), "17280");            // 384 samples
  EXPECT_EQ(line_of(text, "passes per device hour"), "270.0");             // 6 passes
  EXPECT_THAT(line_of(text, "energy measured"), HasSubstr("1.111 ± "));    // 4000 J
  EXPECT_THAT(line_of(text, "energy modelled"), HasSubstr("0.04000 ± "));  // 144 J
  EXPECT_EQ(line_of(text, "kWh per device hour measured"), "0.05000");
  EXPECT_EQ(line_of(text, "kWh per device hour modelled"), "0.001800");
  EXPECT_EQ(line_of(text, "Wh per 1000 samples measured"), "2.894");
  EXPECT_EQ(line_of(text, "Wh per 1000 samples modelled"), "0.1042");
}

TEST(Summary, SaysOfEveryEnergyWhatItCoversAndItsLabel) {
  const TemporaryFolder folder;
  const std::string text = summary_of(made_record(folder));
  EXPECT_THAT(line_of(text, "package-0"), testing::MatchesRegex("measured 1.111 ± .* Wh 100.0 W"));
  EXPECT_THAT(text, HasSubstr("covers cpu package 0, RAPL powercap\n"));
  EXPECT_THAT(line_of(text, "memory"), testing::MatchesRegex("modelled 0.04000 ± .* Wh 3.6 W"));
  EXPECT_THAT(text, HasSubstr("covers memory of the node, 16 GiB\n"));
  EXPECT_THAT(text, HasSubstr("formula 0.375 W/GiB\n"));
  EXPECT_THAT(text, HasSubstr("GPUs: no libnvidia-ml; install the driver\n"));
}

TEST(Summary, ShowsQualitySharesWarningsAndTheWayBack) {
  const TemporaryFolder folder;
  const std::string text = summary_of(made_record(folder));
  EXPECT_EQ(line_of(text, "state"), "done");
  EXPECT_EQ(line_of(text, "validation"), "loss 0.4500 after epoch 1");
  EXPECT_THAT(text, HasSubstr("top-1 error  14.00 %"));
  EXPECT_EQ(line_of(text, "forward"), "30.00 %");
  EXPECT_EQ(line_of(text, "backward"), "45.00 %");
  EXPECT_EQ(line_of(text, "other"), "25.00 %");
  EXPECT_THAT(text, HasSubstr("warning at 7.0 s, rank 1: a sample was skipped\n"));
  EXPECT_EQ(line_of(text, "show again"), "parajoule runs show x");
}

TEST(Summary, PutsTheSettledPartBesideTheWhole) {
  const TemporaryFolder folder;
  const std::string text = summary_of(made_record(folder, "mlp", 1));
  EXPECT_THAT(text, HasSubstr("whole run  without the first step"));
  EXPECT_EQ(line_of(text, "wall time"), "40.0 s 27.0 s");
  EXPECT_THAT(line_of(text, "energy measured"),
              testing::MatchesRegex("1.111 ± .* Wh 0.7500 ± .* Wh"));
  EXPECT_EQ(line_of(text, "kWh per device hour measured"), "0.05000 0.05000");
}

TEST(Summary, FitsAHundredColumnsAndAPipe) {
  const TemporaryFolder folder;
  const std::string text = summary_of(made_record(folder, std::string(300, 'x') + "\x1b[31m\n", 1));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 100u) << line;
  EXPECT_TRUE(std::ranges::none_of(text, [](char c) { return c >= 0 && c < ' ' && c != '\n'; }));
  EXPECT_THAT(summary_of(made_record(folder), Look::terminal), HasSubstr("\x1b[1m"));
}

TEST(Summary, CountsBadSamplesAndSaysWhatMeteringCost) {
  const TemporaryFolder folder;
  Record record(store::options_in(folder));
  const auto note = [&](store::Severity severity, const std::string& text) {
    record.add(store::Note{.seconds = Seconds(3), .rank = 1, .severity = severity, .text = text});
  };
  for (int i = 0; i < 20; ++i)
    note(store::Severity::warning, fmt::format("bad sample skipped: {}.png: cut short", i));
  note(store::Severity::warning, "bad sample replaced by sample 7: a.png: cut short");
  note(store::Severity::warning, "damage mended: 11 times, in a batch of 32 samples");
  note(store::Severity::warning, "damage mended: 4 times, in a batch of 32 samples");
  note(store::Severity::warning, "something else");
  note(store::Severity::note, "metering took 0.123 s of one core, 0.1 % of it");
  note(store::Severity::note, "not metered: mainboard, fans: nothing reads them; a wall meter");
  note(store::Severity::note, "not metered: mainboard, fans: nothing reads them; a wall meter");
  record.finish(store::State::done);
  const std::string text = summary_of(record.path());
  EXPECT_EQ(line_of(text, "samples left out"), "20");
  EXPECT_EQ(line_of(text, "samples replaced by others"), "1");
  EXPECT_EQ(line_of(text, "damage that decoders mended"), "15");
  EXPECT_THAT(text, HasSubstr("2.png: cut short\n20 more in the table `note`\n"));
  EXPECT_THAT(text, HasSubstr("warning at 3.0 s, rank 1: something else\n"));
  EXPECT_EQ(line_of(text, "metering took"), "0.123 s of one core, 0.1 % of it");
  EXPECT_EQ(text.find("mainboard"), text.rfind("mainboard"));
}

TEST(Summary, OfARunThatHasNothingYetSaysSo) {
  const TemporaryFolder folder;
  Record record(store::options_in(folder));
  const std::string text = summary_of(record.path());
  EXPECT_THAT(line_of(text, "state"), HasSubstr("running; its record reaches 0.0 s so far"));
  EXPECT_EQ(line_of(text, "energy measured"), "none");
  EXPECT_EQ(line_of(text, "device hours"), "-");
}

TEST(ShowCommand, NamesAnIdOnlyWhereItIsFound) {
  const TemporaryFolder folder;
  const auto file = made_record(folder);
  const std::string id = store::Reader(file).run().id;
  EXPECT_EQ(show_command(file, id, folder.path()), "parajoule runs show " + id);
  EXPECT_EQ(show_command(file, id, "records"), "parajoule runs show '" + file.string() + "'");
  EXPECT_EQ(show_command("/it's/a.db", "a", "records"), "parajoule runs show '/it'\\''s/a.db'");
}

TEST(List, HasALineForEachRunAndTheReasonForWhatCannotBeRead) {
  const TemporaryFolder folder;
  const auto file = made_record(folder, "a rather long name of an experiment");
  std::ofstream(folder.path() / "broken.db") << "this is no database, but long enough";
  const std::vector<std::filesystem::path> files = {folder.path() / "broken.db", file};
  const std::string text = list_text(files, Look::plain, 100);
  EXPECT_THAT(line_of(text, store::Reader(file).run().id),
              testing::MatchesRegex(".* a rather long na… done 1 14.00 % 0:40 1.111 0.04000"));
  EXPECT_THAT(text, HasSubstr("broken.db' is not a record of a run"));
  std::istringstream lines(text.substr(0, text.find("\n\n")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 100u) << line;
}

TEST(List, FitsANarrowTerminal) {
  const TemporaryFolder folder;
  const std::vector<std::filesystem::path> files = {
      made_record(folder, "a rather long name of an experiment")};
  const std::string id = store::Reader(files[0]).run().id;
  for (const std::size_t columns : {60, 70, 80}) {
    const std::string text = list_text(files, Look::plain, columns);
    EXPECT_THAT(line_of(text, id), testing::MatchesRegex(".*done.* 1.111 0.04000"));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), columns) << line;
  }
  EXPECT_THAT(line_of(list_text(files, Look::plain, 36), id), HasSubstr("done"));
}

TEST(Summary, HasTheCauseOfAFailureBesideTheState) {
  const TemporaryFolder folder;
  Record record(store::options_in(folder));
  record.add(store::Note{
      .seconds = Seconds(1), .severity = store::Severity::error, .text = "another line"});
  record.finish(store::State::failed, "rank 1: no space left on the disk");
  EXPECT_EQ(line_of(summary_of(record.path()), "state"),
            "failed: rank 1: no space left on the disk");
}

/// What `parajoule runs ...` prints, or the error it ends with.
std::string run(const std::vector<std::string>& words) {
  CLI::App app;
  Chosen chosen;
  add_runs(app, chosen);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  testing::internal::CaptureStdout();
  try {
    app.parse(reversed);
    EXPECT_EQ(chosen(), 0);
  } catch (const base::Error& error) {
    std::cout << error.what();
  } catch (const CLI::ParseError& error) {
    std::cout << error.what();
  }
  return testing::internal::GetCapturedStdout();
}

TEST(Runs, ListsShowsAndExports) {
  const TemporaryFolder folder;
  const std::string id = store::Reader(made_record(folder)).run().id;
  const std::string records = "--records=" + folder.path().string();
  EXPECT_THAT(run({"runs", "list", records}), HasSubstr(id));
  EXPECT_THAT(run({"runs", "show", records}), HasSubstr("energy by source"));
  EXPECT_THAT(run({"runs", "show", id.substr(0, 3), records}), HasSubstr(id));
  EXPECT_THAT(run({"runs", "export", id, records, "--csv", "--table=epoch"}),
              HasSubstr("\n0,40,validation,top1_error,14,100\n"));
  EXPECT_THAT(run({"runs", "export", "last", records, "--json"}), HasSubstr("\"version\": 1,"));
  const std::string to = (folder.path() / "all" / "tables").string();
  EXPECT_EQ(run({"runs", "export", id, records, "--csv", "--to", to}), "");
  EXPECT_TRUE(std::filesystem::exists(to + "/reading.csv"));
}

TEST(Runs, AnswersBadInputInOneLine) {
  const TemporaryFolder folder;
  const std::string records = "--records=" + folder.path().string();
  EXPECT_EQ(run({"runs", "list", records}),
            "no records in the folder '" + folder.path().string() + "'\n");
  made_record(folder);
  EXPECT_THAT(run({"runs", "show", "0", records}), HasSubstr("there is no record '0'"));
  EXPECT_THAT(run({"runs", "show", "no.db", records}), HasSubstr("there is no record 'no.db'"));
  EXPECT_THAT(run({"runs", "export", records}),
              HasSubstr("one of --csv, --json, --perun FILE and --timeline FILE"));
  EXPECT_THAT(run({"runs", "export", records, "--csv"}), HasSubstr("--table NAME"));
  EXPECT_THAT(run({"runs", "export", records, "--csv", "--table=steps"}),
              HasSubstr("did you mean 'step'?"));
  EXPECT_THAT(run({"runs", "export", records, "--json", "--to=/no/such/folder/a"}),
              HasSubstr("cannot write the file '/no/such/folder/a'"));
}

TEST(Numbers, AreReadAtAGlance) {
  EXPECT_EQ(rounded(0.0123456), "0.01235");
  EXPECT_EQ(rounded(12.3456), "12.35");
  EXPECT_EQ(rounded(1234567.8), "1234568");
  EXPECT_EQ(rounded(-0.5), "-0.5000");
  EXPECT_EQ(rounded(0), "0");
  EXPECT_EQ(rounded(1.5e-7), "1.500e-07");
  EXPECT_EQ(rounded(12.3456, 0.0101), "12.35 ± 0.02");
  EXPECT_EQ(rounded(12.3456, 1e-9), "12.35 ± 0.01");
  EXPECT_EQ(rounded(12.3456, 0), "12.35 ± 0.00");
  EXPECT_EQ(rounded(123456, 20000.5), "123456 ± 20001");
  EXPECT_EQ(rounded(0, 0.5), "0 ± 0.5000");
  EXPECT_EQ(spoken(Seconds(0)), "0.0 s");
  EXPECT_EQ(spoken(Seconds(0.00473)), "4.7 ms");
  EXPECT_EQ(spoken(Seconds(0.0499)), "50 ms");
  EXPECT_EQ(spoken(Seconds(0.05)), "0.1 s");
  EXPECT_EQ(spoken(Seconds(59.94)), "59.9 s");
  EXPECT_EQ(spoken(Seconds(59.96)), "1 min 00 s");
  EXPECT_EQ(spoken(Seconds(3725)), "1 h 02 min 05 s");
  EXPECT_EQ(clock(Seconds(12)), "0:12");
  EXPECT_EQ(clock(Seconds(3725)), "1:02:05");
  EXPECT_EQ(percent(0.14301), "14.30 %");
  EXPECT_EQ(spoken_utc("2025-11-30T10:11:12.123Z"), "2025-11-30 10:11:12 UTC");
  EXPECT_EQ(spoken_utc("once"), "once");
}

}  // namespace
}  // namespace parajoule::cli
