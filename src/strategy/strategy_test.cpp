// The catalog, and what methods share.
#include "strategy/strategy.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/threads.h"
#include "strategy/catalog.h"
#include "strategy/merge.h"
#include "strategy/toy_worker.h"

namespace parajoule::strategy {
namespace {

using base::Range;

TEST(Worker, RefusesToChooseSamplesUnlessItCan) {
  comm::Threads(1).run([](comm::Communicator& group) {
    toy::Worker worker(group, 1);
    for (const auto& ask : {std::function<void()>([&] { worker.losses(); }),
                            std::function<void()>([&] { worker.draw({}); })}) {
      try {
        ask();
        FAIL();
      } catch (const base::Error& error) {
        EXPECT_EQ(error.fault, base::Fault::usage);
        EXPECT_NE(std::string(error.what()).find("biased = false"), std::string::npos);
      }
    }
  });
}

TEST(MergedRanges, CoverTheParametersFromTheLastToTheFirst) {
  schedule::Layout layout;
  std::size_t begin = 0;
  for (std::size_t count : {5, 1, 700, 3, 64, 64, 1, 900, 2}) {
    layout.parameters.push_back({.name = "p", .shape = {}, .range = {begin, begin + count}});
    begin += count;
  }
  for (std::size_t bytes : {1, 100, 256, 4000, 100000}) {
    std::size_t end = begin;
    for (const Range& range : merged_ranges(layout, base::Element::float32, bytes)) {
      EXPECT_EQ(range.end, end);
      EXPECT_GT(range.size(), 0u);
      end = range.begin;
    }
    EXPECT_EQ(end, 0u) << bytes;
  }
}

TEST(Catalog, AnswersAnUnknownMethodWithTheNearest) {
  try {
    method("local_sdg");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'local_sgd'"), std::string::npos);
  }
}

}  // namespace
}  // namespace parajoule::strategy
