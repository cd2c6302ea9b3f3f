// The messages and groups of LSGD, and that it is synchronous SGD to the last bit; its rule is
// tested in test/methods.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using toy::Given;
using toy::Replicas;
using toy::Rows;

constexpr std::size_t count = 37;

Given groups_of(std::int64_t ranks) { return {{"ranks_per_group", ranks}}; }

struct Size {
  int groups, workers;  ///< workers a group
  int ranks() const { return groups * (workers + 1); }
};
constexpr Size sizes[] = {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {4, 1}, {2, 3}, {2, 4}, {3, 2}};

TEST(Lsgd, IsSynchronousBitForBitWhereThatSumsInTheSameOrder) {
  // Workers of one group are one node of the synchronous run.
  for (const Size& size : sizes) {
    const int workers = size.groups * size.workers;
    const auto ours = toy::train({.method = "lsgd",
                                  .options = groups_of(size.workers + 1),
                                  .ranks = size.ranks(),
                                  .count = count,
                                  .momentum = 0.9});
    const auto flat = toy::train({.method = "synchronous",
                                  .ranks = workers,
                                  .count = count,
                                  .momentum = 0.9,
                                  .ranks_per_node = size.workers});
    for (std::size_t step = 1; step < ours.after.size(); ++step)
      EXPECT_EQ(ours.after[step], flat.after[step - 1]);
    EXPECT_EQ(ours.finished, flat.finished);
  }
}

/// Writes down to whom this rank sends, how much, and the sizes of groups it makes.
class Log final : public comm::Communicator {
 public:
  explicit Log(comm::Communicator& inner) : inner_(inner) {}
  struct Message {
    int to;
    std::size_t bytes;
    bool operator==(const Message&) const = default;
  };
  std::vector<Message> sent;
  std::vector<std::vector<int>> groups;
  int collectives = 0;

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  comm::Nodes nodes() const override { return inner_.nodes(); }
  base::Vector allocate(base::Element element, std::size_t n) override {
    return inner_.allocate(element, n);
  }
  comm::Pending start(const comm::Collective& call) override {
    ++collectives;
    return inner_.start(call);
  }
  comm::Pending start_send(base::Vector values, int to, int tag) override {
    sent.push_back({to, values.bytes()});
    return inner_.start_send(values, to, tag);
  }
  comm::Pending start_receive(base::Vector values, int from, int tag) override {
    return inner_.start_receive(values, from, tag);
  }
  std::optional<Arrived> arrived(int from, int tag) override { return inner_.arrived(from, tag); }
  Arrived await(int from, int tag) override { return inner_.await(from, tag); }
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override {
    groups.emplace_back(ranks.begin(), ranks.end());
    return inner_.group(ranks);
  }
  Traffic traffic() const override { return inner_.traffic(); }

 private:
  comm::Communicator& inner_;
};

TEST(Lsgd, WorkersSpeakToTheirCommunicatorOnlyAndSendEachGradientOnce) {
  // Eight ranks: two groups of three workers and a communicator, ranks 3 and 7.
  constexpr int steps = 5;
  constexpr std::size_t elements = 1000, bytes = elements * sizeof(double);
  comm::Threads(8).run([&](comm::Communicator& world) {
    Log log(world);
    const auto strategy = toy::make("lsgd", groups_of(4), log);
    toy::Worker worker(log, elements);
    const bool communicates = world.rank() % 4 == 3;
    if (communicates) {
      strategy->serve(worker);
      std::vector<Log::Message> sent;
      for (int step = 0; step < steps; ++step)
        for (int local = 0; local < 3; ++local) sent.push_back({world.rank() - 3 + local, bytes});
      EXPECT_EQ(log.sent, sent);
      EXPECT_THAT(log.groups, ElementsAre(ElementsAre(3, 7)));
      // Received from three workers, sent to three, and 2 (G - 1) / G of the sum of two groups; the
      // sums of the communicators are counted on both.
      EXPECT_EQ(log.collectives, 0);
    } else {
      for (int step = 0; step < steps; ++step) {
        worker.progress_ = {.step = step, .samples = 1, .samples_of_all = 6};
        strategy->step(worker);
      }
      strategy->leave(worker);
      std::vector<Log::Message> sent(steps, {world.rank() / 4 * 4 + 3, bytes});
      sent.push_back({world.rank() / 4 * 4 + 3, 0});  // goodbye
      EXPECT_EQ(log.sent, sent);
      EXPECT_TRUE(log.groups.empty());
      EXPECT_EQ(log.collectives, 0);
    }
  });
}

TEST(Lsgd, ServesAgainAfterAMeeting) {
  comm::Threads(3).run([](comm::Communicator& world) {
    const auto strategy = toy::make("lsgd", groups_of(3), world);
    toy::Worker worker(world, 3);
    for (int epoch = 0; epoch < 3; ++epoch) {
      if (world.rank() == 2) {
        strategy->serve(worker);
      } else {
        for (int step = 0; step < 2; ++step) {
          worker.progress_ = {
              .step = 2 * epoch + step, .samples = 1, .samples_of_all = 2, .learning_rate = 0.1};
          strategy->step(worker);
        }
        strategy->leave(worker);
      }
      const base::Vector weights = worker.spare();
      const base::Vector buffers = world.allocate(base::Element::float64, 1);
      strategy->evaluation_weights(worker, weights, buffers);
    }
    Replicas all(2, 3);
    for (int step = 0; step < 6; ++step) {
      const Rows gradients{all.gradient(0), all.gradient(1)};
      for (int r = 0; r < 2; ++r) all.update(r, toy::mean(gradients));
    }
    if (world.rank() < 2) {
      EXPECT_NEAR(worker.weights().as<double>()[0], all.w[0][0], 1e-14);
    }
  });
}

std::optional<int> trains(int rank, int ranks, const comm::Nodes& nodes, std::int64_t per_group) {
  const Method& entry = method("lsgd");
  const Part part =
      entry.part(rank, ranks, nodes, base::Settings("lsgd", entry.options, groups_of(per_group)));
  return part.trains;
}

TEST(Lsgd, TheLastRankOfAGroupServes) {
  const comm::Nodes nodes{.node = {0, 0, 0, 1, 1, 1}};
  for (std::int64_t per_group : {0, 3}) {
    std::vector<std::optional<int>> all;
    for (int rank = 0; rank < 6; ++rank) all.push_back(trains(rank, 6, nodes, per_group));
    EXPECT_THAT(all, ElementsAre(0, 1, std::nullopt, 2, 3, std::nullopt));
  }
  // Groups of the ranks of a node, wherever these lie.
  const comm::Nodes dealt{.node = {0, 1, 0, 1}};
  EXPECT_EQ(trains(2, 4, dealt, 0), std::nullopt);
  EXPECT_EQ(trains(1, 4, dealt, 0), 1);
}

TEST(Lsgd, RefusesGroupsThatDoNotWorkOut) {
  const auto refusal = [](int ranks, const comm::Nodes& nodes, std::int64_t per_group) {
    try {
      trains(0, ranks, nodes, per_group);
      return std::string("taken");
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      return std::string(error.what());
    }
  };
  const comm::Nodes one_node{.node = {0, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_THAT(refusal(7, one_node, 4), HasSubstr("7 ranks do not make groups of one size"));
  EXPECT_THAT(refusal(4, one_node, 1'000'000), HasSubstr("1000000, but there are 4 ranks"));
  EXPECT_THAT(refusal(4, one_node, std::numeric_limits<std::int64_t>::max()),
              HasSubstr("9223372036854775807, but there are 4 ranks"));
  EXPECT_THAT(refusal(1, one_node, 0), HasSubstr("at least one worker"));
  EXPECT_THAT(refusal(4, one_node, 1), HasSubstr("at least one worker"));
  EXPECT_THAT(refusal(3, {.node = {0, 0, 1}}, 0), HasSubstr("groups of one size"));
}

}  // namespace
}  // namespace parajoule::strategy
