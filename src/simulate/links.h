#pragma once

// What is on its way between ranks.

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "comm/communicator.h"
#include "simulate/events.h"
#include "simulate/kernel.h"
#include "simulate/options.h"

namespace parajoule::simulate {

/// Seconds of a message of `bytes` on its way.
struct Hop {
  double latency = 0;
  double seconds_per_byte = 0;
  double eager_bytes = 0;  ///< up to so many, a byte takes:
  double eager_seconds_per_byte = 0;
  double seconds(double bytes) const {
    return latency + bytes * (bytes > eager_bytes ? seconds_per_byte : eager_seconds_per_byte);
  }
};

/// Where the ranks sit and through which ports they go.
class Places {
 public:
  Places(int ranks, const Options& options);

  const comm::Nodes& nodes() const { return nodes_; }
  bool same_node(int a, int b) const { return node(a) == node(b); }
  const Link& link(int from, int to) const {
    return same_node(from, to) ? options_.node : options_.network;
  }
  /// Alone on its way; of a rank to itself no time.
  Hop hop(int from, int to) const;
  /// The port through which `rank` reaches those of its own node, or the others. Numbers are
  /// unique; one port carries both directions, each with the link's bandwidth, or with a part of it
  /// if the link is half duplex.
  std::size_t port(int rank, bool within) const;
  bool half_duplex(bool within) const {
    return within ? options_.node.half_duplex : options_.network.half_duplex;
  }

 private:
  int node(int rank) const { return nodes_.node[std::size_t(rank)]; }

  const Options& options_;
  int per_node_;
  comm::Nodes nodes_;
};

/// Messages on their way. A message has an equal part of a port's bandwidth beside those that go
/// through it in the same direction at the same time (in any, if the link is half duplex and the
/// message is not eager), and goes as fast as the slower of its two ports lets it.
class Links {
 public:
  Links(Kernel& kernel, int ranks);
  ~Links();

  const Places& places() const { return places_; }
  /// `landed` is called when all of a message of `bytes` that leaves now has arrived.
  void send(int from, int to, std::size_t bytes, std::function<void()> landed);

 private:
  class Parcel;
  using Way = std::vector<Parcel*>;
  struct Port {  ///< those that go through it
    Way out;
    Way in;
  };

  Port& port(int rank, bool within) { return ports_[places_.port(rank, within)]; }
  void change_pace(const Way& way);

  Kernel& kernel_;
  Places places_;
  std::unordered_map<std::size_t, Port> ports_;
  std::vector<std::unique_ptr<Parcel>> parcels_;
  std::vector<Parcel*> idle_;  ///< of those
};

}  // namespace parajoule::simulate
