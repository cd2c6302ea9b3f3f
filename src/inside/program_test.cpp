#include "inside/program.h"

#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "meter/made_up_tree.h"

namespace parajoule::inside {
namespace {

namespace fs = std::filesystem;
using meter::MadeUpTree;
using testing::SizeIs;

std::vector<std::vector<std::string>> lines_in(const fs::path& file) {
  std::vector<std::vector<std::string>> lines;
  std::ifstream text(file);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    lines.emplace_back();
    for (std::string word; std::getline(words, word, ' ');) lines.back().push_back(word);
  }
  return lines;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  return files;
}

/// What a reader of the file makes of a name.
std::string decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      plain += char(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

meter::Options options_of(const MadeUpTree& tree) {
  tree.zone("sys/class/powercap/intel-rapl:0", "package-0", 1'000'000);
  tree.write("proc/stat", "cpu0 100 0 100 800 0 0 0 0 0 0\n");
  tree.write("proc/meminfo", "MemTotal:       16777216 kB\n");
  meter::Options options = tree.options();
  options.cores = std::vector<int>{0};
  return options;
}

TEST(Program, TellsAWrapperOfItsRegions) {
  const MadeUpTree tree;
  Program program(tree.root().string());
  EXPECT_EQ(program.active(), Program::Active::by_wrapper);
  const double before = now().count();
  const auto outer = program.begin("outer", false);
  const auto inner = program.begin("inner", true);
  program.end(outer);
  program.end(inner);
  const auto files = files_in(tree.root());
  ASSERT_THAT(files, SizeIs(1));
  const auto lines = lines_in(files[0]);
  ASSERT_THAT(lines, SizeIs(4));
  EXPECT_EQ(lines[0][0], "B");
  EXPECT_EQ(lines[0][1], std::to_string(outer));
  EXPECT_GE(std::stod(lines[0][2]), before - 1e-8);
  EXPECT_EQ(lines[0][2].size() - lines[0][2].find('.'), 10u);  // nine digits
  EXPECT_EQ(lines[0][3], "outer");
  EXPECT_EQ(lines[1][3], "inner");
  EXPECT_THAT(lines[2], testing::ElementsAre("E", std::to_string(outer), testing::_));
  EXPECT_LE(std::stod(lines[1][2]), std::stod(lines[2][2]));
  EXPECT_THROW(program.end(outer), base::Error);
  EXPECT_THROW(program.energy_of(outer), base::Error);
}

TEST(Program, NamesOfAnyBytesSurviveAndOthersAreRefused) {
  const MadeUpTree tree;
  Program program(tree.root().string());
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += char(byte);
  const std::vector<std::string> names = {"a,\"b\"\n€", "\xff\xfe", "100%", all, " "};
  for (const std::string& name : names) program.end(program.begin(name, false));
  const auto lines = lines_in(files_in(tree.root()).at(0));
  ASSERT_THAT(lines, SizeIs(2 * names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(decoded(lines[2 * i].at(3)), names[i]);
  EXPECT_THROW(program.begin("", false), base::Error);
  EXPECT_THROW(program.begin(std::string(1001, 'x'), false), base::Error);
  EXPECT_NE(program.begin(std::string(1000, 'x'), false), 0u);
}

TEST(Program, LinesOfManyThreadsDoNotMix) {
  const MadeUpTree tree;
  Program program(tree.root().string());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) program.end(program.begin("a region", false));
    });
  for (std::thread& thread : threads) thread.join();
  std::map<std::string, int> open;
  for (const auto& line : lines_in(files_in(tree.root()).at(0))) {
    ASSERT_EQ(line.size(), line[0] == "B" ? 4u : 3u);
    open[line[1]] += line[0] == "B" ? 1 : -1;
  }
  EXPECT_THAT(open, SizeIs(1000));
  for (const auto& [id, count] : open) EXPECT_EQ(count, 0) << id;
}

TEST(Program, AWrapperThatIsGoneIsNone) {
  Program program("/no/such/folder");
  EXPECT_EQ(program.begin("x", false), 0u);
  EXPECT_NO_THROW(program.end(0));
  EXPECT_EQ(program.active(), Program::Active::no);
  EXPECT_THROW(program.end(1), base::Error);
}

TEST(Program, MetersByItselfBetweenStartAndStop) {
  const MadeUpTree tree;
  Program program(std::nullopt);
  EXPECT_EQ(program.begin("early", false), 0u);
  program.start(options_of(tree), 1000);
  EXPECT_EQ(program.active(), Program::Active::here);
  EXPECT_THROW(program.start(tree.options(), 10), base::Error);
  const auto region = program.begin("x", false);
  program.end(region);
  program.stop();
  program.stop();
  EXPECT_EQ(program.active(), Program::Active::no);
  const RegionEnergy found = program.energy_of(region);
  ASSERT_FALSE(found.account.sources.empty());
  EXPECT_EQ(found.account.sources[0].description.device, "package-0");
  program.start(options_of(tree), 1000);
  EXPECT_THROW(program.energy_of(region), base::Error);
}

TEST(Program, StartsAndStopsAThousandTimesFromAnyThread) {
  const MadeUpTree tree;
  const meter::Options options = options_of(tree);
  Program program(std::nullopt);
  for (int i = 0; i < 1000; ++i) {
    const auto once = [&] {
      program.start(options, 1000);
      program.end(program.begin("x", i % 2 == 0));
    };
    if (i % 3 == 0)
      std::thread(once).join();
    else
      once();
    if (i % 3 == 1)
      std::thread([&] { program.stop(); }).join();
    else
      program.stop();
  }
  EXPECT_EQ(program.active(), Program::Active::no);
}

TEST(Program, WaitsForDevicesBeforeItLooksAtTheClock) {
  const MadeUpTree tree;
  Program program(tree.root().string());
  std::vector<double> waited;
  program.synchronise_with([&] { waited.push_back(now().count()); });
  program.end(program.begin("x", false));
  ASSERT_THAT(waited, SizeIs(2));
  const auto lines = lines_in(files_in(tree.root()).at(0));
  EXPECT_LE(waited[0], std::stod(lines[0][2]) + 1e-9);
  EXPECT_LE(waited[1], std::stod(lines[1][2]) + 1e-9);
  program.synchronise_with(nullptr);
  program.end(program.begin("x", false));
  EXPECT_THAT(waited, SizeIs(2));
}

/// The exit status of a child that does `work`.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Program, AChildOfAForkBeginsAnewAndTheParentGoesOn) {
  ::unsetenv("PARAJOULE_REGIONS");
  const MadeUpTree tree;
  const meter::Options options = options_of(tree);
  Program& program = Program::here();
  program.start(options, 1000);
  const auto region = program.begin("parent's", false);
  EXPECT_EQ(in_child([&] {
              Program& own = Program::here();
              if (&own == &program) return 1;
              if (own.active() != Program::Active::no) return 2;
              if (own.begin("child's", false) != 0) return 3;
              own.stop();
#ifndef __SANITIZE_THREAD__  // which allows no threads after a fork
              own.start(options, 1000);
              const auto mine = own.begin("child's", false);
              if (mine == 0) return 4;
              own.end(mine);
              own.stop();
#endif
              return 0;
            }),
            0);
  EXPECT_EQ(program.active(), Program::Active::here);
  program.end(region);
  EXPECT_NO_THROW(program.energy_of(region));
  program.stop();
}

}  // namespace
}  // namespace parajoule::inside
