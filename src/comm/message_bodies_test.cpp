#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"

namespace parajoule::comm::bodies {
namespace {

using base::Element;
using base::Vector;
using Kind = Collective::Kind;

void messages_keep_their_order(Communicator& world) {
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();
  // More than lie in a ring, so that some wait for room.
  constexpr std::int64_t many = 200;
  std::vector<std::int64_t> out(many);
  std::iota(out.begin(), out.end(), 1000 * world.rank());
  std::vector<Pending> sends;
  for (std::int64_t& value : out)
    sends.push_back(world.start_send(Vector(std::span(&value, 1)), right, 1));
  for (std::int64_t i = 0; i < many; ++i) {
    std::int64_t in = 0;
    world.receive(Vector(std::span(&in, 1)), left, 1);
    ASSERT_EQ(in, 1000 * left + i);
  }
}

void messages_by_tag_and_size(Communicator& world) {
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();
  for (std::size_t count : {0, 1, 64, 65, 100000}) {
    const Room out(world, Element::byte, count);
    const Room in(world, Element::byte, count);
    out.allocated().fill(world.rank() + 1);
    out.on_heap().fill(world.rank() + 101);
    Pending first = world.start_send(out.allocated(), right, 1);
    Pending second = world.start_send(out.on_heap(), right, 2);
    world.receive(in.on_heap(), left, 2);
    world.receive(in.allocated(), left, 1);
    if (count == 0) continue;
    EXPECT_EQ(in.on_heap().as<std::byte>()[count - 1], std::byte(left + 101));
    EXPECT_EQ(in.allocated().as<std::byte>()[0], std::byte(left + 1));
  }
}

void exchanges(Communicator& world) {
  const int partner = world.rank() ^ 1;
  if (partner >= world.size()) return;
  const Vector out = world.allocate(Element::float32, 3000);
  const Vector in = world.allocate(Element::float32, 3000);
  out.fill(world.rank());
  world.exchange(out, partner, in, partner, 5);
  EXPECT_EQ(in.as<float>()[2999], partner);
}

void receives_from_anyone(Communicator& world) {
  if (world.rank() > 0) {
    const Vector values = world.allocate(Element::float32, std::size_t(100 * world.rank()));
    values.fill(world.rank());
    return world.send(values, 0, 3);
  }
  EXPECT_EQ(world.arrived(Communicator::anyone, 4), std::nullopt);
  std::vector<int> senders;
  for (int i = 1; i < world.size(); ++i) {
    const auto message = world.await(Communicator::anyone, 3);
    EXPECT_EQ(message.bytes, std::size_t(400 * message.from));
    const Vector values = world.allocate(Element::float32, message.bytes / 4);
    world.receive(values, message.from, 3);
    EXPECT_EQ(values.as<float>()[0], message.from);
    senders.push_back(message.from);
  }
  std::ranges::sort(senders);
  std::vector<int> all(std::size_t(world.size() - 1));
  std::iota(all.begin(), all.end(), 1);
  EXPECT_EQ(senders, all);
}

void started_receive_from_anyone(Communicator& world) {
  std::int64_t in = -1;
  if (world.rank() == 0) {
    std::int64_t sum = 0;
    for (int i = 1; i < world.size(); ++i) {
      Pending receiving = world.start_receive(Vector(std::span(&in, 1)), Communicator::anyone, 33);
      receiving.wait();
      sum += in;
    }
    EXPECT_EQ(sum, world.size() * (world.size() - 1) / 2);
    return;
  }
  in = world.rank();
  world.send(Vector(std::span(&in, 1)), 0, 33);
}

constexpr Body bodies[] = {
    {"messages_keep_their_order", messages_keep_their_order},
    {"messages_by_tag_and_size", messages_by_tag_and_size},
    {"exchanges", exchanges},
    {"receives_from_anyone", receives_from_anyone},
    {"started_receive_from_anyone", started_receive_from_anyone},
};

}  // namespace

std::span<const Body> of_messages() { return bodies; }

}  // namespace parajoule::comm::bodies
