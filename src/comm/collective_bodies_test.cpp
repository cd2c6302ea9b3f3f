#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "comm/bodies_test.h"

namespace parajoule::comm::bodies {
namespace {

using base::Element;
using base::Vector;
using Kind = Collective::Kind;

constexpr Element elements[] = {Element::float32,  Element::float64, Element::float16,
                                Element::bfloat16, Element::int64,   Element::byte};
/// None, one, what travels in a note, one more, several of the pieces combined at a time.
std::vector<std::size_t> counts(Element element) {
  if (element == Element::float32) return {0, 1, 16, 17, 9001};
  return {5003};
}

/// Whole numbers that every element type holds exactly, also their sums over 8 ranks.
double input(int rank, std::size_t i) { return double((7 * i + 5 * std::size_t(rank)) % 11); }

/// What `kind` makes of element `i`, by its definition; none where nothing is promised.
std::optional<double> expected(const Collective& call, const std::vector<base::Range>& parts,
                               int rank, std::size_t i) {
  const int ranks = int(parts.size());
  const auto owner = std::ranges::find_if(
      parts, [&](base::Range part) { return part.begin <= i && i < part.end; });
  double sum = 0;
  double least = input(0, i);
  double most = least;
  for (int r = 0; r < ranks; ++r) {
    sum += input(r, i);
    least = std::min(least, input(r, i));
    most = std::max(most, input(r, i));
  }
  switch (call.kind) {
    case Kind::sum:
      return sum;
    case Kind::minimum:
      return least;
    case Kind::maximum:
      return most;
    case Kind::broadcast:
      return input(call.root, i);
    case Kind::reduce:
      return rank == call.root ? std::optional(sum) : std::nullopt;
    case Kind::reduce_scatter:
      return owner - parts.begin() == rank ? std::optional(sum) : std::nullopt;
    case Kind::all_gather:
      return input(int(owner - parts.begin()), i);
    case Kind::barrier:
      break;
  }
  return std::nullopt;
}

/// By hand: as even as possible, longer parts first.
std::vector<std::size_t> even(std::size_t count, int ranks) {
  std::vector<std::size_t> lengths(std::size_t(ranks), count / std::size_t(ranks));
  for (std::size_t longer = 0; longer < count % std::size_t(ranks); ++longer) ++lengths[longer];
  return lengths;
}

/// All but one rank's part is empty or odd.
std::vector<std::size_t> uneven(std::size_t count, int ranks) {
  std::vector<std::size_t> lengths(std::size_t(ranks), 0);
  lengths[std::size_t(ranks / 2)] = count - count / 3;
  lengths.back() += count / 3;
  return lengths;
}

std::vector<base::Range> parts_of(const std::vector<std::size_t>& lengths) {
  std::vector<base::Range> parts;
  std::size_t begin = 0;
  for (std::size_t length : lengths) {
    parts.push_back({begin, begin + length});
    begin += length;
  }
  return parts;
}

void one_call(Communicator& group, const Collective& call) {
  std::vector<double> numbers(call.values.count());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = input(group.rank(), i);
  store(call.values, numbers);
  group.start(call).wait();
  const auto parts =
      parts_of(call.lengths.empty() ? even(numbers.size(), group.size()) : call.lengths);
  const auto result = loaded(call.values);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto right = expected(call, parts, group.rank(), i);
    if (!right || *right == result[i]) continue;
    ADD_FAILURE() << name_of(call.kind) << " of " << result.size() << " "
                  << name_of(call.values.element()) << " root " << call.root << ": rank "
                  << group.rank() << " of " << group.size() << " has " << result[i] << " at " << i
                  << ", not " << *right;
    return;
  }
}

}  // namespace

void every_kind(Communicator& group, Vector values) {
  for (Kind kind : {Kind::sum, Kind::minimum, Kind::maximum, Kind::barrier})
    one_call(group, {.kind = kind, .values = values});
  for (Kind kind : {Kind::broadcast, Kind::reduce}) {
    one_call(group, {.kind = kind, .values = values, .root = 0});
    one_call(group, {.kind = kind, .values = values, .root = group.size() - 1});
  }
  for (Kind kind : {Kind::reduce_scatter, Kind::all_gather}) {
    one_call(group, {.kind = kind, .values = values});
    one_call(group,
             {.kind = kind, .values = values, .lengths = uneven(values.count(), group.size())});
  }
}

namespace {

void collectives(Communicator& world) {
  for (Element element : elements) {
    for (std::size_t count : counts(element)) {
      const Room room(world, element, count);
      every_kind(world, room.allocated());
      every_kind(world, room.on_heap());
    }
  }
}

void memory_of_some_ranks_only(Communicator& world) {
  const Room room(world, Element::float32, 5003);
  for (int turn = 0; turn < 3; ++turn) {
    const bool allocated = (world.rank() + turn) % 2 == 0;
    every_kind(world, allocated ? room.allocated() : room.on_heap());
  }
}

void parts_of_a_vector(Communicator& world) {
  const Vector values = world.allocate(Element::float32, 1000);
  values.fill(1);
  world.sum(values[{333, 777}]);
  const auto result = values.as<float>();
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(result[i], i >= 333 && i < 777 ? world.size() : 1) << i;
}

void memory_is_zero_and_apart(Communicator& world) {
  const Vector a = world.allocate(Element::float32, 100);
  const Vector b = world.allocate(Element::byte, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 64, 0U);
  EXPECT_EQ(a.sum_of_magnitudes(), 0);
  a.fill(1);
  EXPECT_EQ(b.as<std::byte>()[0], std::byte(0));
  world.barrier();
}

void several_in_flight(Communicator& world) {
  constexpr std::size_t many = 100;
  const Vector values = world.allocate(Element::float32, many * 50);
  for (std::size_t i = 0; i < many; ++i) values[{50 * i, 50 * i + 50}].fill(double(i));
  std::vector<Pending> sums;
  for (std::size_t i = 0; i < many; ++i)
    sums.push_back(world.start_sum(values[{50 * i, 50 * i + 50}]));
  const double also = world.sum(1.0);
  EXPECT_EQ(also, world.size());
  // The last first, by waiting; the others by asking.
  sums.back().wait();
  for (Pending& sum : sums)
    while (!sum.done()) {
    }
  for (std::size_t i = 0; i < values.count(); ++i)
    ASSERT_EQ(values.as<float>()[i], float(i / 50 * std::size_t(world.size())));
}

void a_pending_dropped_is_waited_for(Communicator& world) {
  const Vector values = world.allocate(Element::float32, 5000);
  values.fill(1);
  { Pending dropped = world.start_sum(values); }
  EXPECT_EQ(values.as<float>()[4999], world.size());
  Pending moved = world.start_sum(values);
  moved = Pending();
  EXPECT_EQ(values.as<float>()[0], world.size() * world.size());
}

constexpr Body bodies[] = {
    {"collectives", collectives},
    {"memory_of_some_ranks_only", memory_of_some_ranks_only},
    {"parts_of_a_vector", parts_of_a_vector},
    {"memory_is_zero_and_apart", memory_is_zero_and_apart},
    {"several_in_flight", several_in_flight},
    {"a_pending_dropped_is_waited_for", a_pending_dropped_is_waited_for},
};

}  // namespace

std::span<const Body> of_collectives() { return bodies; }

}  // namespace parajoule::comm::bodies
