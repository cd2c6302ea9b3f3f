#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "comm/communicator.h"
#include "strategy/daso_pace.h"
#include "strategy/own_vector.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class Daso final : public Replicated {
 public:
  enum class Downcast { none, bfloat16 };
  struct Options {
    DasoCycle::Options cycle = {};
    Downcast downcast = Downcast::bfloat16;
  };
  /// Every node has the same number of ranks.
  Daso(comm::Communicator& group, Options options);

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  /// A sum of weights between the nodes. All ranks know of it; those in its seat take part.
  struct Exchange {
    OwnVector values = {};  ///< what was sent, and once `sum` is done the sum
    comm::Pending sum = {};
    bool open = false;
    int seat = 0;
    std::int64_t wait = 0;  ///< batches it was to take (S)
    std::int64_t left = 0;  ///< batches until it is merged
  };

  void wait() override;
  void begin_epoch(const Progress& progress);
  void prepare(Worker& worker);
  void take_batch(Worker& worker);
  bool averages_gradients(bool last) const;
  void exchange(base::Vector weights, bool last);
  void take_mean(base::Vector weights);
  void send(Exchange& exchange, base::Vector weights);
  void merge(Exchange& exchange, base::Vector weights);
  void drop();
  bool mine(int seat) const { return inside_->rank() == seat; }

  Options options_;
  std::unique_ptr<comm::Communicator> inside_;   ///< the ranks of this node
  std::unique_ptr<comm::Communicator> between_;  ///< those in this rank's seat on every node
  DasoCycle cycle_;
  std::int64_t epoch_ = -1;            ///< under way; none before the first step
  std::int64_t batch_ = 0;             ///< of the epoch
  int seat_ = 0;                       ///< whose turn it is (q)
  std::array<Exchange, 2> exchanges_;  ///< the one that was sent last is the first
  base::Vector wire_;                  ///< weights in bfloat16
};

}  // namespace parajoule::strategy
