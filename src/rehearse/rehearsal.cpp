#include "rehearse/rehearsal.h"

#include <algorithm>

#include "base/error.h"
#include "rehearse/worker.h"
#include "strategy/catalog.h"
#include "strategy/rounds.h"

namespace parajoule::rehearse {
namespace {

comm::Nodes nodes_of(int ranks, int per_node) {
  comm::Nodes nodes;
  for (int rank = 0; rank < ranks; ++rank) nodes.node.push_back(rank / per_node);
  return nodes;
}

/// What one run notes down while it goes.
struct Notes {
  explicit Notes(int ranks) : firsts(std::size_t(ranks)), lasts(std::size_t(ranks)) {}
  std::vector<base::Seconds> firsts;  ///< end of each rank's first step
  std::vector<base::Seconds> lasts;   ///< and of its last
};

class Run {
 public:
  Run(const Rehearsal& rehearsal, simulate::World& world, Outcome& outcome)
      : rehearsal_(rehearsal),
        world_(world),
        outcome_(outcome),
        method_(strategy::method(rehearsal.strategy)),
        nodes_(nodes_of(rehearsal.ranks, rehearsal.ranks_per_node)),
        notes_(rehearsal.ranks) {
    outcome_.steps.resize(std::size_t(std::min(rehearsal.ranks, Outcome::most_recorded)));
    std::vector<strategy::Part> parts;
    for (int rank = 0; rank < rehearsal.ranks; ++rank)
      parts.push_back(method_.part(rank, rehearsal.ranks, nodes_, rehearsal.options));
    rounds_ = strategy::rounds_of(parts);
    training_ = rehearsal.ranks - std::ranges::count(rounds_.steps, 0);
  }

  std::int64_t training() const { return training_; }

  void rank(comm::Communicator& group, const Plan& plan) {
    const auto strategy = method_.make(group, rehearsal_.options);
    Worker worker(world_, group, plan);
    if (trains(group.rank()))
      train(*strategy, worker, group.rank());
    else
      strategy->serve(worker);
    strategy->finish(worker);
  }

  void sum_up() {
    const auto steps = double(rehearsal_.plan.steps);
    const auto ranks = double(rehearsal_.ranks);
    outcome_.ranks_that_train = training();
    base::Seconds first{0}, last{0};
    for (int rank = 0; rank < rehearsal_.ranks; ++rank) {
      const simulate::Account& account = outcome_.accounts[std::size_t(rank)];
      outcome_.span = std::max(outcome_.span, account.finished);
      outcome_.bytes_per_step += double(account.traffic.bytes) / steps / ranks;
      outcome_.messages_per_step += double(account.traffic.messages) / steps / ranks;
      if (!trains(rank)) continue;
      const double pace = double(rounds_.steps[std::size_t(rank)]) / double(rounds_.length);
      outcome_.samples_per_step += pace * double(rehearsal_.plan.local_batch_size);
      outcome_.exposed += account.waited / steps / double(training());
      if (pace < 1) continue;
      first = std::max(first, notes_.firsts[std::size_t(rank)]);
      last = std::max(last, notes_.lasts[std::size_t(rank)]);
    }
    const std::int64_t later = rehearsal_.plan.steps - 1;
    outcome_.per_step = later > 0 ? (last - first) / double(later) : last;
    for (const simulate::Account& account : outcome_.accounts)
      outcome_.devices += account.energy(rehearsal_.machine.device, outcome_.span);
    outcome_.hosts = double(nodes_.count()) * (rehearsal_.machine.host * outcome_.span);
  }

 private:
  bool trains(int rank) const { return rounds_.steps[std::size_t(rank)] > 0; }

  void train(strategy::Strategy& strategy, Worker& worker, int rank) {
    const bool recorded = std::size_t(rank) < outcome_.steps.size();
    const std::int64_t steps = rounds_.taken(rank, rehearsal_.plan.steps);
    for (std::int64_t step = 0; step < steps; ++step) {
      const simulate::Account before = world_.so_far();
      worker.begin_step(step);
      strategy.step(worker);
      notes_.lasts[std::size_t(rank)] = world_.now();
      if (step == 0) notes_.firsts[std::size_t(rank)] = world_.now();
      if (!recorded) continue;
      const simulate::Account& after = world_.so_far();
      outcome_.steps[std::size_t(rank)].push_back(
          {.end = world_.now(),
           .waited = after.waited - before.waited,
           .sent_bytes = after.traffic.bytes - before.traffic.bytes});
    }
    strategy.leave(worker);
  }

  const Rehearsal& rehearsal_;
  simulate::World& world_;
  Outcome& outcome_;
  const strategy::Method& method_;
  comm::Nodes nodes_;
  strategy::Rounds rounds_;
  std::int64_t training_ = 0;  ///< ranks that train: counted once, for there may be a million
  Notes notes_;
};

}  // namespace

simulate::Options options_of(const Rehearsal& rehearsal) {
  return {.ranks_per_node = rehearsal.ranks_per_node,
          .node = rehearsal.machine.node,
          .network = rehearsal.machine.network,
          .device = rehearsal.machine.device,
          .sum = rehearsal.sum,
          .expand = rehearsal.expand,
          .numbers = simulate::Options::Numbers::none,
          .on_span = rehearsal.on_span};
}

Outcome run(const Rehearsal& rehearsal) {
  base::ensure(rehearsal.plan.steps > 0, "a rehearsal has at least one step");
  simulate::World world(rehearsal.ranks, options_of(rehearsal));
  Outcome outcome;
  Run run(rehearsal, world, outcome);
  Plan plan = rehearsal.plan;
  plan.ranks_that_train = run.training();
  world.run([&](comm::Communicator& group) { run.rank(group, plan); });
  outcome.accounts = world.accounts();
  outcome.pass = plan.pass();
  run.sum_up();
  return outcome;
}

}  // namespace parajoule::rehearse
