#pragma once

// All-reduce algorithms by name, and a communicator whose sums run by one of them.

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "comm/codec.h"
#include "comm/communicator.h"
#include "comm/course.h"
#include "comm/summands.h"

namespace parajoule::comm {

/// How a sum runs on one rank; empty: the way of the world itself.
using SumAlgorithm = std::function<Course(Summands& sum, Circle circle)>;

/// A way to add up the values of all ranks.
struct Sum {
  std::string_view name;  ///< as in `sum = "ring"`
  std::string_view summary;
  std::string_view paper;
  std::vector<base::Option> options;
  SumAlgorithm (*make)(const base::Settings&);
};

/// `auto`, the way of the world itself, comes first.
std::span<const Sum> sums();

/// Throws Error{usage} that names the known ones.
const Sum& sum(std::string_view name);

/// Passes everything on to another communicator but the sums (of `start`, so also the means): those
/// run by the chosen algorithm, over messages of their own that meet no one else's, in this
/// communicator and in the groups made from it. Several may be under way at once, started in the
/// same order on all ranks; every call on any of these communicators, and waiting for anything
/// started here, pushes them on. The communicator below is not called by others while they are.
///
/// What a sum promises: equal bits on all ranks, and in every run with the same ranks (and nodes,
/// for `hierarchical`). The order of the additions is the algorithm's: it may depend on where an
/// element lies in the vector. float16 and bfloat16 are added in float32 and rounded once a hop.
/// Options::check_collectives sees the messages of sums only as messages.
class Summing final : public Communicator {
 public:
  /// `inner` outlives it. Throws Error{usage} for settings that are not known.
  explicit Summing(Communicator& inner, const Sum& sum = comm::sum("auto"),
                   const base::Settings& settings = {});
  ~Summing() override;

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  Nodes nodes() const override { return inner_->nodes(); }
  base::Vector allocate(base::Element element, std::size_t count) override {
    return inner_->allocate(element, count);
  }
  Pending start(const Collective& call) override;
  Pending start_send(base::Vector values, int to, int tag) override;
  Pending start_receive(base::Vector values, int from, int tag) override;
  std::optional<Arrived> arrived(int from, int tag) override;
  Arrived await(int from, int tag) override;
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override;
  Traffic traffic() const override { return inner_->traffic(); }

 private:
  struct Lane;
  class Work;
  class Passed;
  class Underway;

  Summing(std::unique_ptr<Communicator> owned, SumAlgorithm algorithm, std::shared_ptr<Work> work);
  Pending passed(Pending pending);

  std::unique_ptr<Communicator> owned_;  ///< of a group made from another
  Communicator* inner_;
  SumAlgorithm algorithm_;
  std::shared_ptr<Work> work_;  ///< of all communicators of this rank
  std::shared_ptr<Lane> lane_;
};

/// A sum round the ring, each chunk encoded by `codec` for every hop; without a codec a sum like
/// any other. float32 and float64 values. Needs `group` to be a Summing, or to be made from one or
/// stand on one; a group without is a bug. With one rank the values become what encoding leaves of
/// them. `codec` lives until the sum is done.
Pending start_ring_sum(Communicator& group, base::Vector values, double factor, const Codec* codec);

}  // namespace parajoule::comm
