// The same again with other seeds and other timing, for PARAJOULE_STRESS_SECONDS (60).
#include <chrono>
#include <cstdint>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/seed.h"
#include "comm/random_calls.h"
#include "comm/threads.h"

namespace parajoule::comm {
namespace {

TEST(ThreadsStress, RandomCallsAreWhatTheirDefinitionsSay) {
  const char* const given = std::getenv("PARAJOULE_STRESS_SECONDS");
  const std::chrono::seconds length(given == nullptr ? 60 : std::atoi(given));
  const auto end = std::chrono::steady_clock::now() + length;
  std::uint64_t seed = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count());
  int worlds = 0;
  for (; std::chrono::steady_clock::now() < end; ++seed, ++worlds) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Stream draw = {seed};
    const int ranks = 1 + int(draw.below(8));
    const Options options{.give_up = base::Seconds(60),
                          .ranks_per_node = 1 + int(draw.below(std::uint64_t(ranks)))};
    Threads(ranks, options).run([&](Communicator& world) { bodies::random_calls(world, seed); });
    ASSERT_FALSE(HasFailure()) << ranks << " ranks, " << *options.ranks_per_node << " a node";
  }
  EXPECT_GT(worlds, 0);
}

}  // namespace
}  // namespace parajoule::comm
