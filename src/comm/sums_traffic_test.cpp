// What each algorithm of sums sends, counted where it is sent, against its formula; and sums whose
// values are encoded on their way.
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/sums.h"
#include "comm/threads.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Vector;
using Traffic = Communicator::Traffic;

constexpr std::size_t count = 960;  // 2, 3, 4, 5, 6 and 8 divide it, and it can be halved six times
constexpr std::size_t n = count * sizeof(float);

/// What each rank sends in one sum.
std::vector<Traffic> counted(std::string_view name, int ranks, int per_node) {
  std::vector<Traffic> sent(static_cast<std::size_t>(ranks));
  const Options options{.give_up = base::Seconds(60), .ranks_per_node = per_node};
  Threads(ranks, options).run([&](Communicator& world) {
    Summing summing(world, sum(name));
    const Vector values = world.allocate(Element::float32, count);
    summing.sum(values);
    const Traffic before = world.traffic();
    summing.sum(values);
    const Traffic after = world.traffic();
    sent[std::size_t(world.rank())] = {after.bytes - before.bytes,
                                       after.messages - before.messages};
  });
  return sent;
}

using Formula = std::function<Traffic(int rank, int ranks)>;

void expect(std::string_view name, const Formula& formula, int per_node = 8) {
  for (int ranks : {2, 3, 4, 5, 6, 8}) {
    const std::vector<Traffic> sent = counted(name, ranks, per_node);
    for (int rank = 0; rank < ranks; ++rank) {
      const Traffic expected = formula(rank, ranks);
      EXPECT_EQ(sent[std::size_t(rank)].messages, expected.messages)
          << name << ": rank " << rank << " of " << ranks;
      EXPECT_EQ(sent[std::size_t(rank)].bytes, expected.bytes)
          << name << ": rank " << rank << " of " << ranks;
    }
  }
}

Traffic of_powers_of_two(int ranks) {
  const auto p = std::uint64_t(ranks);
  return {2 * n * (p - 1) / p, 2 * std::uint64_t(std::countr_zero(p))};
}

Traffic of_halving_doubling(int rank, int ranks) {
  const int power = int(std::bit_floor(unsigned(ranks)));
  const int pairs = ranks - power;
  const Traffic rest = of_powers_of_two(power);
  if (rank >= 2 * pairs) return rest;
  if (rank % 2 == 1) return {n, 2};
  return {rest.bytes + n + n / 2, rest.messages + 2};
}

/// Children of a rank in the binomial tree, whose parent is the rank without its lowest bit.
std::uint64_t children(int rank, int ranks) {
  std::uint64_t found = 0;
  for (int other = 1; other < ranks; ++other) found += (other & (other - 1)) == rank;
  return found;
}

TEST(Traffic, OfARing) {
  expect("ring", [](int, int ranks) {
    const auto p = std::uint64_t(ranks);
    return Traffic{2 * n * (p - 1) / p, 2 * (p - 1)};
  });
}

TEST(Traffic, OfHalvingAndDoubling) { expect("halving_doubling", of_halving_doubling); }

TEST(Traffic, OfBinaryBlocks) {
  const std::map<int, std::vector<int>> blocks{{2, {2}},    {3, {2, 1}}, {4, {4}},
                                               {5, {4, 1}}, {6, {4, 2}}, {8, {8}}};
  expect("binary_blocks", [&](int rank, int ranks) {
    const std::vector<int>& sizes = blocks.at(ranks);
    const std::size_t own = rank < sizes[0] ? 0 : 1;
    const auto b = std::uint64_t(sizes[own]);
    Traffic sent = of_powers_of_two(sizes[own]);
    if (own == 0 && sizes.size() > 1) {  // back to the smaller block
      sent.bytes += n / b;
      sent.messages += 1;
    }
    if (own == 1) {  // to the larger one
      sent.bytes += n / b;
      sent.messages += std::uint64_t(sizes[0]) / b;
    }
    return sent;
  });
}

TEST(Traffic, OfATree) {
  expect("tree", [](int rank, int ranks) {
    const std::uint64_t messages = children(rank, ranks) + (rank > 0);
    return Traffic{messages * n, messages};
  });
}

TEST(Traffic, OfTwoLevels) {
  expect(
      "hierarchical",
      [](int rank, int ranks) {
        if (rank % 2 == 1) return Traffic{n, 1};
        Traffic sent = of_halving_doubling(rank / 2, (ranks + 1) / 2);
        if ((ranks + 1) / 2 == 1) sent = {};
        if (rank + 1 < ranks) sent = {sent.bytes + n, sent.messages + 1};
        return sent;
      },
      2);
}

/// The upper half of each float32: sign, exponent, 7 bits.
class Truncation final : public Codec {
 public:
  std::size_t bytes(std::size_t elements) const override { return 2 * elements; }
  void encode(Vector wire, Vector values) const override {
    for (std::size_t i = 0; i < values.count(); ++i)
      std::memcpy(wire.as<std::byte>().data() + 2 * i,
                  reinterpret_cast<const std::byte*>(&values.as<float>()[i]) + 2, 2);
  }
  void decode(Vector values, Vector wire) const override {
    for (std::size_t i = 0; i < values.count(); ++i) values.as<float>()[i] = at(wire, i);
  }
  void add_decoded(Vector values, Vector wire) const override {
    for (std::size_t i = 0; i < values.count(); ++i) values.as<float>()[i] += at(wire, i);
  }

 private:
  static float at(Vector wire, std::size_t i) {
    float value = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&value) + 2, wire.as<std::byte>().data() + 2 * i, 2);
    return value;
  }
};

float truncated(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000);
}

float input(int rank, std::size_t i) { return 1.37F + 0.731F * float(i % 97) / float(rank + 3); }

/// By the formulas: chunk c begins at rank c, is truncated for each hop, and once more at its end.
float expected(std::size_t i, int ranks) {
  int chunk = 0;
  while (count * std::size_t(chunk + 1) / std::size_t(ranks) <= i) ++chunk;
  const auto own = [&](int rank) { return input(rank, i) * 0.5F; };
  float partial = own(chunk);
  for (int hop = 1; hop < ranks; ++hop) partial = own((chunk + hop) % ranks) + truncated(partial);
  return truncated(partial);
}

TEST(CodedRing, EncodesEachHopAndTheFinishedChunkOnce) {
  const Truncation codec;
  for (int ranks : {1, 2, 3, 4, 5, 6, 7, 8}) {
    Threads(ranks).run([&](Communicator& world) {
      Summing summing(world);
      const Vector values = world.allocate(Element::float32, count);
      for (std::size_t i = 0; i < count; ++i) values.as<float>()[i] = input(world.rank(), i);
      const Traffic before = world.traffic();
      start_ring_sum(summing, values, 0.5, &codec).wait();
      const auto p = std::uint64_t(ranks);
      if (count % p == 0) {
        EXPECT_EQ(world.traffic().bytes - before.bytes, n * (p - 1) / p);
        EXPECT_EQ(world.traffic().messages - before.messages, 2 * (p - 1));
      }
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(values.as<float>()[i], expected(i, ranks)) << i << ", " << ranks << " ranks";
    });
  }
}

TEST(CodedRing, WithoutACodecIsASumLikeAnyOther) {
  Threads(3).run([&](Communicator& world) {
    const Vector values = world.allocate(Element::float32, 100);
    values.fill(world.rank() + 1);
    start_ring_sum(world, values, 2, nullptr).wait();
    EXPECT_EQ(values.as<float>()[99], 12);
  });
}

TEST(CodedRing, NeedsACommunicatorThatKnowsOfIt) {
  const Truncation codec;
  Threads(1).run([&](Communicator& world) {
    const Vector values = world.allocate(Element::float32, 100);
    EXPECT_THROW(start_ring_sum(world, values, 1, &codec).wait(), base::Error);
  });
}

}  // namespace
}  // namespace parajoule::comm
