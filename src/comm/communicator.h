#pragma once

// What a method may say to the other ranks. Worlds: one rank, threads, MPI, virtual time.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/vector.h"

namespace parajoule::comm {

class Codec;

/// A transfer under way. Move-only. Nothing need move forward between calls: `done` and `wait` push
/// it on, and so does every other call on any communicator of this rank. Until it is done its
/// memory is neither written nor, unless it is being sent, read. The destructor waits and swallows
/// failures; while an exception unwinds it does not wait: the rank is leaving, and the transfer is
/// abandoned.
class [[nodiscard]] Pending {
 public:
  class Transfer {
   public:
    virtual ~Transfer() = default;  ///< abandons what is not done
    virtual bool done() = 0;        ///< pushes on, does not wait
    virtual void wait() = 0;        ///< returns when done; sleeps, never spins for long
    /// The same, but returns also once `enough()` says so: asked at first and again whenever
    /// something has come to this rank. It may push on other transfers of this rank.
    virtual void wait_or(const std::function<bool()>& enough) = 0;
  };

  Pending() = default;  ///< done
  explicit Pending(std::unique_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  Pending(Pending&&) = default;
  Pending& operator=(Pending&& other);
  ~Pending();

  bool done() { return !transfer_ || transfer_->done(); }
  void wait() {
    if (transfer_) transfer_->wait();
    transfer_.reset();
  }
  /// For what is made of several transfers: others go on while this one is waited for. Not done
  /// when it returns if `enough` said so.
  void wait_or(const std::function<bool()>& enough) {
    if (transfer_) transfer_->wait_or(enough);
  }

 private:
  std::unique_ptr<Transfer> transfer_;
};

/// One call that all ranks of a communicator make in the same order with the same kind, count and
/// element type.
struct Collective {
  enum class Kind : std::uint8_t {
    sum,
    minimum,
    maximum,
    broadcast,
    reduce,
    reduce_scatter,
    all_gather,
    barrier
  };
  Kind kind = Kind::sum;
  base::Vector values = {};  ///< in place; the same count on every rank
  /// This rank's weight: its values count `factor` times in a sum. A mean has 1 / size on every
  /// rank; ranks with unequal numbers of samples have unequal factors.
  double factor = 1;
  int root = 0;  ///< of broadcast and reduce
  /// Of reduce_scatter and all_gather: how many elements belong to each rank, in the order of the
  /// ranks; they add up to the count. Empty: as even as possible, longer parts first.
  std::vector<std::size_t> lengths = {};
  /// What the values are ("gradients 3"): in messages, and agreed on by all ranks if collectives
  /// are checked. At most `longest_name` letters count.
  std::string_view name = {};
  static constexpr std::size_t longest_name = 47;
  /// Of a sum: how values look on their way (sums.h). A bug on communicators that know of none.
  const Codec* codec = nullptr;
};

std::string_view name_of(Collective::Kind kind);

/// The node of each rank: ranks of one node share memory.
struct Nodes {
  std::vector<int> node;  ///< of each rank, numbered from 0 in the order of their first ranks
  int count() const;
};

/// A group of ranks that call the same collectives in the same order. A group of one is a true
/// group: every collective is the identity, so callers never ask. Sums run in the order of the
/// ranks of a node and then in the order of the nodes, so equal inputs give equal bits on every
/// rank and in every run with the same nodes. float16 and bfloat16 are added in float32 and rounded
/// once (across nodes once more a node). A NaN on any rank makes the minimum and the maximum NaN.
/// int64 and bytes (unsigned, modulo 256) have factor 1. After `reduce` the values of ranks other
/// than the root, after `reduce_scatter` those of other ranks' parts, are left in no particular
/// state.
///
/// A communicator and the groups made from it belong to one thread at a time.
///
/// Throws Error{peer} from any call once another rank is known to have died, failed or stalled, and
/// Error{bug} that names both sides where the ranks do not make the same call.
class Communicator {
 public:
  static constexpr int anyone = -1;

  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual Nodes nodes() const = 0;

  /// Memory that lives as long as this communicator, zero at first. Every vector that is ever
  /// summed lies in such memory: within a node a sum then works in place on it. Not collective.
  /// Throws Error{environment} that names both sizes if the node has too little shared memory.
  virtual base::Vector allocate(base::Element element, std::size_t count) = 0;

  virtual Pending start(const Collective& call) = 0;
  virtual Pending start_send(base::Vector values, int to, int tag) = 0;
  /// `from` may be `anyone`. The count is that of the message; another one is a bug.
  virtual Pending start_receive(base::Vector values, int from, int tag) = 0;
  /// The rank and length in bytes of a message with this tag that has arrived and not been
  /// received, if there is one. Does not wait, and throws as a waiting call does.
  struct Arrived {
    int from;
    std::size_t bytes;
  };
  virtual std::optional<Arrived> arrived(int from, int tag) = 0;
  /// The same, but waits for one; sleeps meanwhile.
  virtual Arrived await(int from, int tag) = 0;

  /// The ranks of `ranks` (numbers in this communicator, in this order) as a communicator of their
  /// own. Not collective: each member calls it with the same list, others do not call it.
  virtual std::unique_ptr<Communicator> group(std::span<const int> ranks) = 0;

  /// Bytes this rank has sent to others, or read from and written to their memory, and in how many
  /// messages, since the start: counted where they move, by no formula.
  struct Traffic {
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;
  };
  virtual Traffic traffic() const = 0;

  Pending start_sum(base::Vector values, double factor = 1) {
    return start({.kind = Collective::Kind::sum, .values = values, .factor = factor});
  }
  Pending start_mean(base::Vector values) { return start_sum(values, 1.0 / size()); }
  void sum(base::Vector values, double factor = 1) { start_sum(values, factor).wait(); }
  void mean(base::Vector values) { start_mean(values).wait(); }
  void minimum(base::Vector values);
  void maximum(base::Vector values);
  void broadcast(base::Vector values, int root);
  void reduce(base::Vector values, int root);
  void reduce_scatter(base::Vector values, std::vector<std::size_t> lengths = {});
  void all_gather(base::Vector values, std::vector<std::size_t> lengths = {});
  void barrier();
  void send(base::Vector values, int to, int tag) { start_send(values, to, tag).wait(); }
  void receive(base::Vector values, int from, int tag) { start_receive(values, from, tag).wait(); }
  /// Sends `out` to `to` and receives `in` from `from`, both at once.
  void exchange(base::Vector out, int to, base::Vector in, int from, int tag);

  /// Of one number each, for what ranks decide together.
  double sum(double value);
  double minimum(double value);
  double maximum(double value);
};

}  // namespace parajoule::comm
