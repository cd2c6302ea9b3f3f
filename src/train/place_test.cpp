#include "train/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/threads.h"

namespace parajoule::train {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Machines take ranks in turn: x has 0, 2 and 4, y has 1 and 3.
Machine pretended(int rank) {
  Machine machine;
  machine.boot_id = rank % 2 == 0 ? "x" : "a longer name of y";
  machine.cores = {rank, rank + 1};
  machine.visible_devices = std::to_string(rank / 2);
  return machine;
}

TEST(Place, EachMachineHasOneOwnerAndKnowsWhatItsRanksMayUse) {
  comm::Threads(5).run([](comm::Communicator& group) {
    const int rank = group.rank();
    const Place place = find_place(group, pretended(rank));
    EXPECT_EQ(place.nodes, 2);
    EXPECT_EQ(place.node, rank % 2);
    EXPECT_EQ(place.owner, rank < 2);
    EXPECT_EQ(place.first_machine, rank % 2 == 0);
    if (rank % 2 == 0) {
      EXPECT_THAT(place.cores, ElementsAre(0, 1, 2, 3, 4, 5));
      EXPECT_THAT(place.visible_devices, ElementsAre("0", "1", "2"));
    } else {
      EXPECT_THAT(place.cores, ElementsAre(1, 2, 3, 4));
      EXPECT_THAT(place.visible_devices, ElementsAre("0", "1"));
    }
  });
}

TEST(Place, ARankWithoutLimitsSeesEveryGpuAndOneWithNoneHidesThem) {
  comm::Threads(4).run([](comm::Communicator& group) {
    Machine machine = pretended(group.rank());
    if (group.rank() == 2) machine.visible_devices.reset();
    if (group.rank() == 3) machine.visible_devices = "";
    const Place place = find_place(group, machine);
    if (group.rank() % 2 == 0)
      EXPECT_THAT(place.visible_devices, IsEmpty());
    else
      EXPECT_THAT(place.visible_devices, ElementsAre("0", ""));
  });
}

TEST(Place, ThisMachineHasAName) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.boot_id.empty());
  EXPECT_FALSE(machine.cores.empty());
  EXPECT_GE(machine.cpus, 1);
  EXPECT_GT(machine.memory_bytes, 0);
}

}  // namespace
}  // namespace parajoule::train
