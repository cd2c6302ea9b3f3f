// LSGD: K. Yu, T. Flynn, S. Yoo, N. D'Imperio, "Layered SGD: A Decentralized and Synchronous SGD
// Algorithm for Scalable Deep Neural Network Training", 2019, arXiv:1906.05936. Each group of ranks
// has a communicator, which trains nothing: groups talk to each other while the workers load their
// next batch.
//
//   worker         receive gbar_{t-1}    w <- w - lr_{t-1} gbar_{t-1}    send (n_r / n) g_r(w)
//   communicator   s <- sum over its workers    gbar <- sum over the communicators of s
//                  send gbar to its workers
//
// which is synchronous SGD: g is summed in the group first, then over the groups. The loop takes
// the batch before `step`, so that receiving comes after loading.
//
// Where we differ from the authors' code (github.com/ML4HPC/scalable_DNN): the late update takes
// the learning rate of the step that its gradient belongs to, not of the next, so the equality with
// synchronous SGD is exact in warm-up too; the communicator is the last rank of its group, not the
// first; gradients are weighed by the samples of the step. Weights need no exchange at the start,
// as all ranks begin with the same.
//
// An empty message in place of gradients says that a worker leaves. Communicators keep no weights:
// they are told those to be evaluated.
#include "strategy/lsgd.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"

namespace parajoule::strategy {
namespace {

constexpr int upwards = 1, downwards = 2, evaluated = 3;  // tags

[[noreturn]] void refuse(const std::string& why) {
  throw base::Error(base::Fault::usage, "lsgd: " + why);
}

}  // namespace

Lsgd::Groups Lsgd::groups(int ranks, const comm::Nodes& nodes, Options options) {
  if (options.ranks_per_group > ranks)
    refuse("ranks_per_group = " + std::to_string(options.ranks_per_group) + ", but there are " +
           std::to_string(ranks) + " ranks; set it to a number of ranks that divides them");
  const int per_group = int(options.ranks_per_group);
  Groups groups(std::size_t(per_group == 0 ? nodes.count() : (ranks - 1) / per_group + 1));
  for (int rank = 0; rank < ranks; ++rank)
    groups[std::size_t(per_group == 0 ? nodes.node[std::size_t(rank)] : rank / per_group)]
        .push_back(rank);
  for (const auto& group : groups) {
    if (group.size() != groups.front().size())
      refuse(std::to_string(ranks) + " ranks do not make groups of one size; set ranks_per_group " +
             "to a number of ranks that divides them");
    if (group.size() < 2)
      refuse("a group is a communicator and at least one worker; start at least two ranks a " +
             std::string("group"));
  }
  return groups;
}

Part Lsgd::part(int rank, int ranks, const comm::Nodes& nodes, Options options) {
  const Groups all = groups(ranks, nodes, options);
  std::vector<int> workers;
  for (const auto& group : all) workers.insert(workers.end(), group.begin(), group.end() - 1);
  const auto place = std::ranges::find(workers, rank);
  if (place == workers.end()) return {};
  return {.trains = int(place - workers.begin()), .share = 1.0 / double(workers.size())};
}

Lsgd::Lsgd(comm::Communicator& world, Options options) : world_(world) {
  std::vector<int> communicators;
  for (const auto& group : groups(world.size(), world.nodes(), options)) {
    communicators.push_back(group.back());
    if (std::ranges::find(group, world.rank()) == group.end()) continue;
    workers_.assign(group.begin(), group.end() - 1);
    communicator_ = group.back();
  }
  if (world.rank() == communicator_) communicators_ = world.group(communicators);
}

void Lsgd::step(Worker& worker) {
  receive_and_update(worker);
  if (!mean_.made()) mean_.make(worker.gradients());
  worker.compute_gradients();
  const Progress at = worker.progress();
  const base::Vector gradients = worker.gradients();
  gradients.scale(at.samples == 0 ? 0 : double(at.samples) / double(at.samples_of_all));
  world_.send(gradients, communicator_, upwards);
  rate_ = at.learning_rate;
  due_ = Due::receive;
}

void Lsgd::receive() {
  if (due_ != Due::receive) return;
  world_.receive(*mean_, communicator_, downwards);
  due_ = Due::update;
}

void Lsgd::receive_and_update(Worker& worker) {
  receive();
  if (due_ == Due::nothing) return;
  if (!mean_.made()) mean_.make(worker.gradients());
  worker.update(worker.weights(), *mean_, {0, mean_->count()}, rate_);
  due_ = Due::nothing;
}

void Lsgd::leave(Worker& worker) {
  receive();
  world_.send(worker.gradients()[{0, 0}], communicator_, upwards);
}

void Lsgd::serve(Worker& worker) {
  const base::Vector sum = worker.gradients();
  if (!mean_.made()) mean_.make(worker.spare());
  while (reduce(sum, *mean_)) {
    communicators_->sum(sum);
    broadcast(sum);
  }
}

/// Sums what the workers send; false if they leave instead.
bool Lsgd::reduce(base::Vector sum, base::Vector one) {
  std::size_t left = 0;
  for (int from : workers_) {
    const base::Vector to = from == workers_.front() ? sum : one;
    const bool leaves = world_.await(from, upwards).bytes == 0;
    world_.receive(leaves ? to[{0, 0}] : to, from, upwards);
    if (!leaves && from != workers_.front()) sum.add(one);
    left += leaves;
  }
  base::ensure(left == 0 || left == workers_.size(), "workers of a group leave together");
  return left == 0;
}

void Lsgd::broadcast(base::Vector sum) {
  std::vector<comm::Pending> sending;
  for (int to : workers_) sending.push_back(world_.start_send(sum, to, downwards));
  for (comm::Pending& one : sending) one.wait();
}

/// What is due is applied now instead of at the beginning of the next step: it is the same update.
void Lsgd::evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) {
  if (communicators_) return world_.receive(weights, workers_.front(), evaluated);
  receive_and_update(worker);
  Strategy::evaluation_weights(worker, weights, buffers);
  if (world_.rank() == workers_.front()) world_.send(weights, communicator_, evaluated);
}

void Lsgd::save(base::Archive& archive) {
  if (communicators_) return;
  receive();
  archive.put("due", std::int64_t(due_ == Due::update));
  archive.put("rate", rate_);
  if (due_ == Due::update) mean_.save(archive, "mean");
}

void Lsgd::load(const base::Archive& archive) {
  if (communicators_) return;
  due_ = archive.whole("due") != 0 ? Due::update : Due::nothing;
  rate_ = archive.number("rate");
  mean_.load(archive, "mean");
}

void Lsgd::finish(Worker& worker) {
  if (!communicators_) receive_and_update(worker);
}

}  // namespace parajoule::strategy
