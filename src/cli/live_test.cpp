#include "cli/live.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

Standing usual() {
  return {.epoch = 1,
          .epochs = 90,
          .step = 312,
          .steps = 5004,
          .loss = 0.6123,
          .top1_error_percent = 22.4,
          .samples_per_second = 812.4,
          .measured = {},
          .modelled = Drawn{.power = {46.1}, .energy = {1872}},
          .left = base::Seconds(54)};
}

Standing extreme() {
  Standing s = usual();
  s.epochs = 100000;
  s.epoch = 99999;
  s.step = s.steps = 123456789;
  s.loss = 1e300;
  s.top1_error_percent = 100;
  s.samples_per_second = 12345678;
  s.measured = Drawn{.power = {123456789}, .energy = {1e15}};
  s.left = base::Seconds(1e7);
  return s;
}

TEST(Live, NeverWraps) {
  for (const Standing& standing : {usual(), extreme(), Standing{}}) {
    for (std::size_t columns = 1; columns < 250; ++columns) {
      const LiveText text = live_text(standing, columns);
      EXPECT_LT(text.line.size(), columns);
      EXPECT_LT(text.heading.size(), columns);
      EXPECT_EQ(text.line.size(), text.heading.size());
    }
  }
}

TEST(Live, EightyColumnsHoldEverything) {
  const LiveText text = live_text(usual(), 80);
  for (const char* part : {"1/90", "312/5004", "0.612", "22.4 %", "812", "46.1", "0.520", "0:54"}) {
    EXPECT_THAT(text.line, HasSubstr(part)) << text.line;
  }
  for (const char* part :
       {"epoch", "step", "loss", "top-1 error", "samples/s", "W modelled", "Wh modelled", "left"}) {
    EXPECT_THAT(text.heading, HasSubstr(part)) << text.heading;
  }
}

TEST(Live, SaysTheSameOfAnEvaluationInATerminalAndInAPipe) {
  Standing standing = usual();
  standing.evaluating = true;
  EXPECT_THAT(live_text(standing, 80).line, HasSubstr(" evaluating"));
  EXPECT_THAT(live_text(standing, 80).line, Not(HasSubstr("0:54")));
  EXPECT_THAT(plain_text(standing), HasSubstr(" evaluating"));
}

TEST(Live, MeasuredAndModelledStandApart) {
  Standing both = usual();
  both.measured = Drawn{.power = {100}, .energy = {3600}};
  const LiveText wide = live_text(both, 120);
  EXPECT_THAT(wide.heading, HasSubstr("W measured"));
  EXPECT_THAT(wide.heading, HasSubstr("W modelled"));
  EXPECT_THAT(wide.line, HasSubstr("100.0"));
  EXPECT_THAT(wide.line, HasSubstr("46.1"));
  EXPECT_THAT(wide.line, Not(HasSubstr("146.1")));
}

/// A terminal or a pipe that remembers.
struct Recorded {
  std::string text;
  std::string warnings;
  std::optional<std::size_t> columns;
  base::Seconds now{0};

  Screen screen() {
    return {.write =
                [this](std::string_view written) {
                  text += written;
                  return true;
                },
            .warn = [this](std::string_view written) { warnings += written; },
            .columns = [this] { return columns; },
            .now = [this] { return now; }};
  }
};

TEST(Live, APipeGetsPlainLinesNowAndThen) {
  Recorded pipe;
  Live live(pipe.screen());
  for (int i = 0; i < 1000; ++i) {
    live.show(usual());
    pipe.now += base::Seconds(0.02);
  }
  live.print("epoch 1: done\n");
  live.finish();
  const auto lines = std::ranges::count(pipe.text, '\n');
  EXPECT_EQ(lines, 4 + 1);
  EXPECT_TRUE(std::ranges::all_of(pipe.text, [](char c) { return c == '\n' || c >= ' '; }));
}

TEST(Live, APipeIsToldAtOnceThatAnEvaluationBegins) {
  Recorded pipe;
  Live live(pipe.screen());
  Standing standing = usual();
  live.show(standing);
  standing.evaluating = true;
  for (int i = 0; i < 3; ++i) live.show(standing);
  EXPECT_EQ(pipe.text, plain_text(usual()) + "\n" + plain_text(standing) + "\n");
}

TEST(Live, ATerminalGetsOneLineRewrittenInPlace) {
  Recorded terminal{.text = {}, .warnings = {}, .columns = 80};
  Live live(terminal.screen());
  for (int i = 0; i < 10; ++i) {
    live.show(usual());
    terminal.now += base::Seconds(1);
  }
  EXPECT_EQ(std::ranges::count(terminal.text, '\n'), 1);
  EXPECT_EQ(std::ranges::count(terminal.text, '\r'), 9);
  live.finish();
  EXPECT_TRUE(terminal.text.ends_with('\n'));
}

TEST(Live, WordsGoAboveTheLine) {
  Recorded terminal{.text = {}, .warnings = {}, .columns = 80};
  Live live(terminal.screen());
  live.show(usual());
  terminal.text.clear();
  live.print("epoch 1: done\n");
  const std::string line = live_text(usual(), 80).line;
  EXPECT_EQ(terminal.text, "\r\x1b[Kepoch 1: done\n" + line);
  terminal.text.clear();
  live.warn("careful\n");
  EXPECT_EQ(terminal.text, "\r\x1b[K" + line);
  EXPECT_EQ(terminal.warnings, "careful\n");
}

TEST(Live, KnowsWhenNobodyReadsAnyMore) {
  Recorded pipe;
  Screen screen = pipe.screen();
  screen.write = [](std::string_view) { return false; };
  Live live(screen);
  EXPECT_TRUE(live.has_reader());
  live.print("x\n");
  EXPECT_FALSE(live.has_reader());
}

TEST(Standing, ComesBackFromItsMessage) {
  for (const Standing& standing : {usual(), extreme(), Standing{}}) {
    const std::string line = message(standing);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(parse_standing(line), standing);
  }
  EXPECT_EQ(parse_standing("resuming from step 12"), std::nullopt);
  EXPECT_EQ(parse_standing(""), std::nullopt);
}

}  // namespace
}  // namespace parajoule::cli
