#include "comm/threads.h"

#include <gtest/gtest.h>

namespace parajoule::comm {
namespace {

TEST(Threads, AddUp) {
  for (int ranks : {1, 2, 3, 4}) {
    for (int per_node : {1, 2, 3}) {
      Threads(ranks, {.give_up = base::Seconds(5), .ranks_per_node = per_node})
          .run([&](Communicator& world) {
            base::Vector values = world.allocate(base::Element::float32, 1001);
            values.fill(world.rank() + 1);
            world.sum(values);
            for (float value : values.as<float>()) ASSERT_EQ(value, ranks * (ranks + 1) / 2);
            EXPECT_EQ(world.sum(1.0), ranks);
            world.barrier();
          });
    }
  }
}

}  // namespace
}  // namespace parajoule::comm
