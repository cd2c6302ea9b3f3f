#pragma once

// Latency and bandwidth of a machine's links out of what transfers took there: those with which the
// virtual world is nearest to all of them.

#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "bench/spread.h"
#include "comm/communicator.h"
#include "rehearse/machine.h"
#include "simulate/world.h"

namespace parajoule::bench {

/// Seconds on the slowest rank.
template <class Act>
double timed(comm::Communicator& world, Act act) {
  using Clock = std::chrono::steady_clock;
  world.barrier();
  const auto begin = Clock::now();
  act();
  return world.maximum(base::Seconds(Clock::now() - begin).count());
}

class MeasuredLinks {
 public:
  /// `count` float32 are what methods send as a whole.
  MeasuredLinks(comm::Communicator& world, std::size_t count)
      : world_(world),
        count_(count),
        own_(world.allocate(base::Element::float32, count)),
        other_(world.allocate(base::Element::float32, count)) {
    const comm::Nodes nodes = world.nodes();
    machine.devices = world.size() / nodes.count();
    std::vector<int> here;
    for (int rank = 0; rank < world.size(); ++rank)
      if (nodes.node[std::size_t(rank)] == nodes.node[std::size_t(world.rank())])
        here.push_back(rank);
    node_ = world.group(here);
    if (here.size() > 1) near_ = transfers(node_->size());
    far_ = transfers(world.size());
    machine.network.shared_by = machine.devices;  // one interface a node
  }

  /// Each transfer once.
  void measure() {
    for (Transfer& one : near_)
      one.seconds.push_back(timed(world_, [&] { one.act(*node_, own_, other_); }));
    for (Transfer& one : far_)
      one.seconds.push_back(timed(world_, [&] { one.act(world_, own_, other_); }));
    adding_.push_back(timed(world_, [&] { own_.add(other_, 0.5); }));
  }

  /// Of all that was measured.
  void fit() {
    // To add a vector two are read and one is written.
    machine.device.memory_bytes_per_second = 3 * double(own_.bytes()) / median(adding_);
    if (!near_.empty()) search(machine.node, near_, machine.devices);
    simulate::Link& network = machine.network;
    double best = search(network, far_, world_.size());
    simulate::Link fitted = network;
    // MPI over TCP goes one way at a time, and there only with what is longer than Open MPI's limit
    // for eager messages.
    for (const std::size_t eager : {std::size_t(0), std::size_t(65536)}) {
      network.half_duplex = true;
      network.eager_bytes = eager;
      const double error = search(network, far_, world_.size());
      if (error >= best) continue;
      best = error;
      fitted = network;
    }
    network = fitted;
  }

  double whole_sum() const { return median(far_.front().seconds); }

  void print() const {
    print("node", machine.node, near_, machine.devices);
    print("network", machine.network, far_, world_.size());
    fmt::print("memory, of a rank beside the others: {:.1f} GB/s\n",
               1e-9 * *machine.device.memory_bytes_per_second);
  }

  /// The machine as a file that `parajoule rehearse` reads. Its watts are none, its rate of
  /// computing is a placeholder: a rehearsal on it is given the measured seconds of a pass.
  void write(const std::string& path) const {
    std::ofstream file(path);
    file << fmt::format(
        "version = 1\nname = \"measured\"\nsource = \"links as bench_network has fitted them\"\n\n"
        "[device]\nkind = \"cpu\"\nflops_per_second = {{float32 = 1e12}}\n"
        "memory_bytes_per_second = {}\nmemory_bytes = 1e12\n"
        "idle_watts = 0\ncompute_watts = 0\ncommunicate_watts = 0\n\n"
        "[node]\ndevices = {}\ncores = {}\nhost_watts = 0\n\n",
        *machine.device.memory_bytes_per_second, machine.devices, machine.devices);
    // A node of one rank has no links within; those to others stand in.
    write(file, "node", near_.empty() ? machine.network : machine.node);
    write(file, "network", machine.network);
    file.close();
    if (!file) throw base::Error(base::Fault::environment, path + " cannot be written");
  }

  rehearse::Machine machine;

 private:
  static void write(std::ostream& file, const char* name, const simulate::Link& link) {
    file << fmt::format(
        "[link.{}]\nlatency_seconds = {}\nbytes_per_second = {}\nshared_by = {}\n"
        "half_duplex = {}\neager_bytes = {}\n\n",
        name, link.latency.count(), *link.bytes_per_second, link.shared_by, link.half_duplex,
        link.eager_bytes);
  }

  /// Something that the ranks of a group do together, on two vectors.
  struct Transfer {
    std::string name;
    std::size_t count;
    std::function<void(comm::Communicator&, base::Vector, base::Vector)> act;
    std::vector<double> seconds = {};  ///< measured
  };

  /// What methods make: sums of all gradients and of parts, and vectors from one to another.
  std::vector<Transfer> transfers(int ranks) const {
    std::vector<Transfer> all;
    for (std::size_t parts : {1, 2, 4, 8, 16, 64, 1024}) {
      const std::size_t count = count_ / parts;
      all.push_back({fmt::format("sum of {} B", 4 * count), count,
                     [count](comm::Communicator& group, base::Vector own, base::Vector) {
                       group.sum(own[{0, count}]);
                     }});
    }
    for (std::size_t parts : {1, 8}) {
      const std::size_t count = count_ / parts;
      all.push_back({fmt::format("message of {} B", 4 * count), count,
                     [count](comm::Communicator& group, base::Vector own, base::Vector other) {
                       const int half = group.size() / 2;
                       if (group.rank() == 0) group.send(own[{0, count}], half, 1);
                       if (group.rank() == half) group.receive(other[{0, count}], 0, 1);
                     }});
      all.push_back({fmt::format("exchange of {} B", 4 * count), count,
                     [count](comm::Communicator& group, base::Vector own, base::Vector other) {
                       const int partner = (group.rank() + group.size() / 2) % group.size();
                       group.exchange(own[{0, count}], partner, other[{0, count}], partner, 1);
                     }});
    }
    // The rounds of a ring: other pairs than an exchange has, one way between two ranks.
    for (std::size_t parts : {1, 8}) {
      const std::size_t count = count_ / parts / std::size_t(ranks);
      if (ranks == 2) break;
      all.push_back({fmt::format("shift of {} B", 4 * count), count,
                     [count](comm::Communicator& group, base::Vector own, base::Vector other) {
                       const int last = group.size() - 1;
                       const int next = group.rank() == last ? 0 : group.rank() + 1;
                       const int before = group.rank() == 0 ? last : group.rank() - 1;
                       group.exchange(own[{0, count}], next, other[{0, count}], before, 1);
                     }});
    }
    return all;
  }

  /// What it takes in virtual time.
  double simulated(const Transfer& transfer, int ranks) const {
    simulate::World world(ranks, {.ranks_per_node = machine.devices,
                                  .node = machine.node,
                                  .network = machine.network,
                                  .numbers = simulate::Options::Numbers::none});
    double last = 0;
    world.run([&](comm::Communicator& group) {
      transfer.act(group, group.allocate(base::Element::float32, transfer.count),
                   group.allocate(base::Element::float32, transfer.count));
      last = std::max(last, world.now().count());
    });
    return last;
  }

  /// The sum of the squares of the logarithms of what is too long or too short: an outlier counts
  /// no more than it is off, in either direction.
  double error(const std::vector<Transfer>& transfers, int ranks) const {
    double sum = 0;
    for (const Transfer& one : transfers)
      sum += std::pow(std::log(simulated(one, ranks) / median(one.seconds)), 2);
    return sum;
  }

  /// Moves both numbers of the link by ever smaller factors as long as the error falls.
  /// Returns the error that is left.
  double search(simulate::Link& link, const std::vector<Transfer>& transfers, int ranks) {
    double latency = 1e-4, bandwidth = 1e9;
    const auto set = [&](double a, double b) {
      link.latency = base::Seconds(a);
      link.bytes_per_second = b;
      return error(transfers, ranks);
    };
    double least = set(latency, bandwidth);
    for (double step = 4; step > 1.0002;) {
      const double before = least;
      for (const auto& [a, b] :
           {std::pair{step, 1.0}, {1 / step, 1.0}, {1.0, step}, {1.0, 1 / step}}) {
        const double error = set(latency * a, bandwidth * b);
        if (error >= least) continue;
        least = error;
        latency *= a;
        bandwidth *= b;
      }
      if (least == before) step = std::sqrt(step);
    }
    return set(latency, bandwidth);
  }

  void print(const char* name, const simulate::Link& link, const std::vector<Transfer>& transfers,
             int ranks) const {
    if (transfers.empty()) return;
    fmt::print("{}, fitted: latency {:.0f} us, {:.1f} MB/s{}\n", name, 1e6 * link.latency.count(),
               1e-6 * *link.bytes_per_second,
               link.half_duplex ? fmt::format(", half duplex above {} B", link.eager_bytes) : "");
    for (const Transfer& one : transfers) {
      const double virtually = simulated(one, ranks);
      fmt::print("  {:24} {:>28} ms   so fitted {:8.2f} ms {:+6.1f} %\n", one.name,
                 spread(one.seconds, 1e3), 1e3 * virtually,
                 100 * (virtually / median(one.seconds) - 1));
    }
  }

  comm::Communicator& world_;
  std::size_t count_;
  base::Vector own_, other_;
  std::unique_ptr<comm::Communicator> node_;  ///< the ranks of this node
  std::vector<Transfer> near_, far_;
  std::vector<double> adding_;
};

}  // namespace parajoule::bench
