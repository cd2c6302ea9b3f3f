#include "strategy/rounds.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::strategy {
namespace {

/// Ranks whose shares are in the ratio of these numbers; 0 serves.
std::vector<Part> parts(const std::vector<int>& ratio) {
  double sum = 0;
  for (const int each : ratio) sum += each;
  std::vector<Part> parts;
  for (const int each : ratio)
    parts.push_back({.trains = each > 0 ? std::optional(int(parts.size())) : std::nullopt,
                     .share = each / sum});
  return parts;
}

TEST(Rounds, AreTheShortestInWhichAllTakeWholeSteps) {
  EXPECT_EQ(rounds_of(parts({7, 7, 7})).length, 1);
  EXPECT_EQ(rounds_of(parts({32, 1, 32})).length, 32);
  EXPECT_EQ(rounds_of(parts({4, 2, 4})).length, 2);
  const Rounds rounds = rounds_of(parts({0, 9, 6, 4}));
  EXPECT_EQ(rounds.length, 9);
  EXPECT_EQ(rounds.steps, (std::vector<std::int64_t>{0, 9, 6, 4}));
}

TEST(Rounds, AreFoundFromSharesThatWereDivided) {
  for (int quick = 1; quick <= 60; ++quick)
    for (int slow = 1; slow <= quick; ++slow)
      for (const int ranks : {2, 3, 7}) {
        std::vector<int> ratio(std::size_t(ranks), quick);
        ratio.back() = slow;
        const Rounds rounds = rounds_of(parts(ratio));
        EXPECT_EQ(rounds.length * slow, rounds.steps.back() * quick) << quick << " " << slow;
        EXPECT_EQ(rounds.steps.front(), rounds.length);
      }
}

// What a method that takes 5 and 3 steps between two meetings of its own relies on.
TEST(Rounds, HaveEquallyManyWholeOnesBehindThemWhereverAllStop) {
  const Rounds rounds = rounds_of(parts({5, 3}));
  for (std::int64_t s = 0; s < 100; ++s) {
    EXPECT_EQ(rounds.taken(0, s), s);
    EXPECT_EQ(rounds.taken(1, s) / 3, s / 5) << s;
  }
}

TEST(Rounds, RefuseSharesWithoutACommonMeasure) {
  const std::vector<Part> odd{{.trains = 0, .share = 0.6180339887498949},
                              {.trains = 1, .share = 0.3819660112501051}};
  EXPECT_THROW(rounds_of(odd), base::Error);
}

}  // namespace
}  // namespace parajoule::strategy
