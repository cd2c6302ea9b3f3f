#pragma once

// What a rank does for one block of a collective that it is responsible for.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "comm/combine.h"
#include "comm/communicator.h"
#include "comm/messages.h"
#include "comm/switchboard.h"
#include "comm/topology.h"

namespace parajoule::comm {

/// Where the values of a collective lie, and what to do with them.
struct Scene {
  Switchboard& board;
  const Topology& topology;
  Messages::Key key;  ///< context and sequence
  int own;            ///< this rank's member
  Collective::Kind kind;
  base::Element element;
  int root;
  struct Place {
    std::byte* values = nullptr;
    double factor = 1;
  };
  std::vector<Place> places;  ///< of each member of this node; others empty
};

/// One node: the block is combined from all and written to all in one pass.
///
/// Several nodes: the responsible rank of each node combines the block there and sends it to the
/// block's owner, which combines what comes in the order of the nodes, writes it to all of its own
/// node, and sends it back to the responsible rank of each other node, which writes it to all
/// there. Two steps, and of every block each rank sends and receives one copy a node: of a sum over
/// N nodes 2 (N - 1) / N of the values a node.
class Script {
 public:
  Script(const Scene& scene, int block, base::Range range);
  Script(const Script&) = delete;

  /// Goes on as far as it can; true at the end.
  bool advance();
  /// The ranks this one waits for.
  std::vector<int> awaited() const;

  /// Of the root of a reduce, for a block that is owned on another node and that it is not
  /// responsible for.
  static std::unique_ptr<Script> receive_only(const Scene& scene, int block, base::Range range);

 private:
  struct Empty {};
  Script(const Scene& scene, int block, base::Range range, Empty);

  enum class Way { to_owner, from_owner };
  using Step = std::function<void()>;

  void write_reduction();
  void write_reduction_of_owner();
  void write_broadcast();
  void write_gather();
  void write_spread();

  void combine_here(std::vector<int> to);
  void combine_partials(std::vector<int> to);
  void copy_here(int from);
  void send(int member, Way way);
  void receive(int member, Way way, std::byte* to);
  void send_to_nodes(std::vector<int> not_these);
  void receive_partials();
  std::byte* values(int member) const;
  std::size_t bytes() const;
  std::vector<int> here() const { return scene_.topology.on_node(node()); }
  int node() const { return scene_.topology.node_of(scene_.own); }
  int owner_node() const { return scene_.topology.node_of(block_); }

  const Scene& scene_;
  int block_;  ///< and its owner
  base::Range range_;
  std::vector<Step> steps_;
  std::size_t next_ = 0;
  struct Transfer {
    int rank;
    std::unique_ptr<Moving> moving;
  };
  std::vector<Transfer> transfers_;
  std::vector<std::optional<std::uint64_t>> partials_;  ///< in scratch, of each other node
};

}  // namespace parajoule::comm
