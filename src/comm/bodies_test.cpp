#include "comm/bodies_test.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "base/seed.h"

namespace parajoule::comm::bodies {
namespace {

using base::Element;
using base::Vector;
using Kind = Collective::Kind;

constexpr Element elements[] = {Element::float32,  Element::float64, Element::float16,
                                Element::bfloat16, Element::int64,   Element::byte};
/// None, one, what travels in a note, more, several of the pieces that are combined at a time; of
/// float32 all of them, of others some.
std::vector<std::size_t> counts(Element element) {
  if (element == Element::float32) return {0, 1, 16, 17, 1001, 20011};
  return {7, 5003};
}

/// Whole numbers that every element type holds exactly, also their sums over 8 ranks.
double input(int rank, std::size_t i) { return double((7 * i + 5 * std::size_t(rank)) % 11); }

void store(Vector values, const std::vector<double>& numbers) {
  if (values.empty()) return;
  if (values.element() == Element::int64) {
    std::ranges::copy(numbers, values.as<std::int64_t>().begin());
  } else if (values.element() == Element::byte) {
    std::ranges::transform(numbers, values.as<std::byte>().begin(),
                           [](double x) { return std::byte(x); });
  } else {
    std::vector<double> wide = numbers;
    values.cast(Vector(std::span(wide)));
  }
}

std::vector<double> loaded(Vector values) {
  std::vector<double> numbers(values.count());
  if (values.empty()) return numbers;
  if (values.element() == Element::int64)
    std::ranges::copy(values.as<std::int64_t>(), numbers.begin());
  else if (values.element() == Element::byte)
    std::ranges::transform(values.as<std::byte>(), numbers.begin(),
                           [](std::byte x) { return double(x); });
  else
    Vector(std::span(numbers)).cast(values);
  return numbers;
}

/// Memory of the communicator, or of no one's.
class Room {
 public:
  Room(Communicator& group, Element element, std::size_t count) : own_(count * 8 + 8) {
    allocated_ = group.allocate(element, count);
    on_heap_ = Vector(own_.data(), count, element);
  }
  Vector allocated() const { return allocated_; }
  Vector on_heap() const { return on_heap_; }

 private:
  std::vector<std::byte> own_;
  Vector allocated_;
  Vector on_heap_;
};

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

void weights_of_ranks(Communicator& world) {
  const Vector values = world.allocate(Element::float64, 3000);
  values.fill(8);
  world.sum(values, world.rank() + 1);
  const double ranks = world.size();
  EXPECT_EQ(values.as<double>()[0], 8 * ranks * (ranks + 1) / 2);
  values.fill(world.rank());
  world.mean(values);
  EXPECT_NEAR(values.as<double>()[2999], (ranks - 1) / 2, 1e-15 * ranks);
  EXPECT_EQ(world.sum(3.0), 3 * ranks);
  EXPECT_EQ(world.minimum(double(-world.rank())), 1 - ranks);
  EXPECT_EQ(world.maximum(double(-world.rank())), 0);
}

/// Adds up by hand what a rank can gather from the others: node by node, each in the order of its
/// ranks.
std::vector<float> sum_by_hand(Communicator& world, Vector own) {
  const std::size_t count = own.count();
  const auto ranks = std::size_t(world.size());
  const Vector gathered = world.allocate(Element::float32, count * ranks);
  gathered[{count * std::size_t(world.rank()), count * std::size_t(world.rank() + 1)}].copy(own);
  world.all_gather(gathered, std::vector<std::size_t>(ranks, count));
  const Nodes nodes = world.nodes();
  std::vector<float> total;
  for (int node = 0; node < nodes.count(); ++node) {
    std::vector<float> partial;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (nodes.node[rank] != node) continue;
      const auto values = gathered.as<float>().subspan(rank * count, count);
      if (partial.empty())
        partial.assign(values.begin(), values.end());
      else
        std::ranges::transform(partial, values, partial.begin(), std::plus<float>());
    }
    if (total.empty())
      total = partial;
    else
      std::ranges::transform(total, partial, total.begin(), std::plus<float>());
  }
  return total;
}

void sums_have_one_order(Communicator& world) {
  const Vector values = world.allocate(Element::float32, 10007);
  base::Stream random{17, std::uint64_t(world.rank())};
  for (float& value : values.as<float>()) value = float(random.normal());
  const std::vector<float> by_hand = sum_by_hand(world, values);
  world.sum(values);
  EXPECT_EQ(0, std::memcmp(by_hand.data(), values.data(), values.bytes()));
}

void narrow_sums_round_once(Communicator& world) {
  // 2^-8 alone is lost beside 1, an even number of them is not: if they are rounded together.
  if (world.nodes().count() > 1 || world.size() % 2 == 0) return;
  const Vector values = world.allocate(Element::bfloat16, 100);
  values.fill(world.rank() == 0 ? 1 : 0x1p-8);
  world.sum(values);
  std::vector<float> wide(100);
  Vector(std::span(wide)).cast(values);
  EXPECT_EQ(wide[99], 1 + (world.size() - 1) * 0x1p-8F);
}

void not_a_number_wins(Communicator& world) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Element element : {Element::float32, Element::float64, Element::float16}) {
    for (std::size_t count : {std::size_t(3), std::size_t(500)}) {
      for (Kind kind : {Kind::minimum, Kind::maximum}) {
        for (int bad = 0; bad < world.size(); ++bad) {
          const Vector values = world.allocate(element, count);
          values.fill(world.rank() + 1);
          if (world.rank() == bad) values[{1, 2}].fill(nan);
          world.start({.kind = kind, .values = values}).wait();
          const auto result = loaded(values);
          EXPECT_TRUE(std::isnan(result[1]));
          EXPECT_EQ(result[2], kind == Kind::minimum ? 1 : world.size());
        }
      }
    }
  }
  EXPECT_TRUE(std::isnan(world.maximum(world.rank() == 0 ? nan : 1.0)));
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

void groups(Communicator& world) {
  // Neighbours: every rank is in two groups at once, whose sums are in flight together.
  const int right = (world.rank() + 1) % world.size();
  const int left = (world.rank() + world.size() - 1) % world.size();
  if (world.size() < 3) return;
  const int to_right[] = {world.rank(), right};
  const int to_left[] = {left, world.rank()};
  const Vector values = world.allocate(Element::float32, 2000);
  values.fill(world.rank());
  std::unique_ptr<Communicator> a = world.group(to_right);
  std::unique_ptr<Communicator> b = world.group(to_left);
  EXPECT_EQ(a->rank(), 0);
  EXPECT_EQ(b->rank(), 1);
  Pending with_right = a->start_sum(values[{0, 1000}]);
  Pending with_left = b->start_sum(values[{1000, 2000}]);
  with_left.wait();
  with_right.wait();
  EXPECT_EQ(values.as<float>()[999], world.rank() + right);
  EXPECT_EQ(values.as<float>()[1000], world.rank() + left);
}

void groups_of_groups(Communicator& world) {
  std::vector<int> backwards(std::size_t(world.size()));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const auto turned = world.group(backwards);
  EXPECT_EQ(turned->rank(), world.size() - 1 - world.rank());
  std::vector<int> every_other;
  for (int rank = turned->rank() % 2; rank < world.size(); rank += 2) every_other.push_back(rank);
  for (int again = 0; again < 3; ++again) {
    const auto part = turned->group(every_other);
    EXPECT_EQ(part->sum(1.0), double(every_other.size()));
    const Vector values = part->allocate(Element::int64, 1000);
    EXPECT_EQ(values.as<std::int64_t>()[999], 0);
    values.fill(1);
    part->sum(values);
    EXPECT_EQ(values.as<std::int64_t>()[999], std::int64_t(every_other.size()));
    every_kind(*part, values);
  }
  const int only[] = {world.rank()};
  EXPECT_EQ(world.group(only)->sum(4.0), 4);
}

void groups_that_are_not_agreed_on(Communicator& world) {
  // Members meet although the others know nothing of it, and do something else meanwhile.
  if (world.size() < 2) return;
  const int pair[] = {0, 1};
  for (int turn = 0; turn < 5; ++turn) {
    if (world.rank() < 2) {
      const auto group = world.group(pair);
      EXPECT_EQ(group->sum(double(turn)), 2 * turn);
    }
    EXPECT_EQ(world.sum(1.0), world.size());
  }
}

void counts_what_moves(Communicator& world) {
  const auto traffic = [&](auto act) {
    world.barrier();
    const auto before = world.traffic().bytes;
    act();
    return world.traffic().bytes - before;
  };
  constexpr std::size_t count = 64 * 840;  // a whole number of cache lines for each rank
  const Vector values = world.allocate(Element::float32, count);
  const auto ranks = std::size_t(world.size());
  const auto nodes = std::size_t(world.nodes().count());
  const std::size_t summed = traffic([&] { world.sum(values); });
  // On one node each rank reads and writes the others' values of its block; alone on its node it
  // sends each block once to its owner and once back.
  if (nodes == 1 || nodes == ranks) {
    EXPECT_EQ(summed, 2 * (ranks - 1) * values.bytes() / ranks);
  }
  std::vector<std::byte> message(1000);
  const std::size_t sent = traffic([&] {
    Pending sending = world.start_send(Vector(std::span(message)), world.rank(), 1);
    world.receive(Vector(std::span(message)), world.rank(), 1);
  });
  EXPECT_EQ(sent, 1000U);
}

constexpr Body bodies[] = {
    {"collectives", collectives},
    {"memory_of_some_ranks_only", memory_of_some_ranks_only},
    {"parts_of_a_vector", parts_of_a_vector},
    {"memory_is_zero_and_apart", memory_is_zero_and_apart},
    {"weights_of_ranks", weights_of_ranks},
    {"sums_have_one_order", sums_have_one_order},
    {"narrow_sums_round_once", narrow_sums_round_once},
    {"not_a_number_wins", not_a_number_wins},
    {"several_in_flight", several_in_flight},
    {"a_pending_dropped_is_waited_for", a_pending_dropped_is_waited_for},
    {"messages_keep_their_order", messages_keep_their_order},
    {"messages_by_tag_and_size", messages_by_tag_and_size},
    {"exchanges", exchanges},
    {"receives_from_anyone", receives_from_anyone},
    {"started_receive_from_anyone", started_receive_from_anyone},
    {"groups", groups},
    {"groups_of_groups", groups_of_groups},
    {"groups_that_are_not_agreed_on", groups_that_are_not_agreed_on},
    {"counts_what_moves", counts_what_moves},
};

}  // namespace

std::span<const Body> all() { return bodies; }

}  // namespace parajoule::comm::bodies
