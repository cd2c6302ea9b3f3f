#include "cli/reporting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace parajoule::cli
