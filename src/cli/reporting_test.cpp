#include "cli/reporting.h"

#include <array>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace parajoule::cli {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class ReportingTest : public testing::Test {
 protected:
  Seconds now{0};
  std::vector<std::string> lines;
  std::vector<Standing> standings;
  Reporting reporting{{.show = [this](const Standing& s) { standings.push_back(s); },
                       .print = [this](std::string_view line) { lines.emplace_back(line); },
                       .now = [this] { return now; }}};
};

TEST_F(ReportingTest, TellsAnEvaluationInWords) {
  reporting.evaluated(0, {{.set = "training", .name = "loss", .unit = "", .value = 0.5},
                          {.set = "validation", .name = "loss", .unit = "", .value = 0.25},
                          {.set = "validation", .name = "top1_error", .unit = "%", .value = 12}});
  EXPECT_THAT(lines, ElementsAre("epoch 1: training loss 0.5000; validation loss 0.2500, top-1 "
                                 "error 12.00 %\n"));
}

TEST_F(ReportingTest, ADivergedLossIsAShortNumber) {
  reporting.evaluated(0, {{.set = "validation", .name = "loss", .unit = "", .value = 2.5e180}});
  EXPECT_THAT(lines, ElementsAre("epoch 1: validation loss 2.500e+180\n"));
}

TEST_F(ReportingTest, OfShortEpochsSomeAreToldAndTheLast) {
  constexpr int epochs = 100;
  reporting.live({.epochs = epochs});
  for (int epoch = 0; epoch < epochs; ++epoch, now += Seconds(0.125))
    reporting.evaluated(epoch, {});
  EXPECT_THAT(lines,
              ElementsAre(StartsWith("epoch 1:"), StartsWith("epoch 17:"), StartsWith("epoch 33:"),
                          StartsWith("epoch 49:"), StartsWith("epoch 65:"), StartsWith("epoch 81:"),
                          StartsWith("epoch 97:"), StartsWith("epoch 100:")));
}

TEST_F(ReportingTest, ANoteIsOneLine) {
  reporting.note("a name\nof two lines");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find('\n'), lines[0].size() - 1);
}

TEST_F(ReportingTest, SaysWhenTrainingWaitsForAnEvaluation) {
  reporting.evaluating(0);  // nothing has been shown that could wait
  EXPECT_TRUE(standings.empty());
  reporting.live({.epoch = 1, .epochs = 3});
  reporting.evaluating(1);
  ASSERT_EQ(standings.size(), 2u);
  EXPECT_FALSE(standings[0].evaluating);
  EXPECT_TRUE(standings[1].evaluating);
  EXPECT_EQ(standings[1].epoch, 2);
}

/// What a launcher finds in the pipe.
std::string read_all(int file) {
  std::string text;
  std::array<char, 65536> buffer;
  for (ssize_t length; (length = read(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), std::size_t(length));
  return text;
}

TEST(ToLauncher, WaitsForNoReaderAndLosesNoWords) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::string words;
  std::string read;
  {
    const Outlet outlet = to_launcher(ends[1]);
    for (int step = 0; step < 2000; ++step) outlet.show({.step = step});  // more than a pipe holds
    for (int epoch = 0; epoch < 100; ++epoch) {
      words += "epoch " + std::to_string(epoch) + "\n";
      outlet.print("epoch " + std::to_string(epoch) + "\n");
    }
    read = read_all(ends[0]);
    EXPECT_THAT(read, StartsWith(message({.step = 0}) + "\n" + message({.step = 1}) + "\n"));
    outlet.show({.step = 2000});  // the words go first
  }
  read += read_all(ends[0]);
  EXPECT_THAT(read, testing::EndsWith("\n" + words + message({.step = 2000}) + "\n"));
  close(ends[0]);
  close(ends[1]);
}

TEST(ToLauncher, OutlivesIt) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Outlet outlet = to_launcher(ends[1]);
  close(ends[0]);
  outlet.print("to nobody\n");
  close(ends[1]);
}

}  // namespace
}  // namespace parajoule::cli
