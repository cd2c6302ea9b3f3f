#pragma once

// A run in virtual time: the method of a training run, with the costs of a machine.

#include <functional>
#include <string>
#include <vector>

#include "base/settings.h"
#include "rehearse/machine.h"
#include "rehearse/plan.h"
#include "simulate/world.h"

namespace parajoule::rehearse {

struct Rehearsal {
  int ranks = 1;
  int ranks_per_node = 1;
  std::string strategy;
  base::Settings options;  ///< of the strategy
  simulate::Sum sum = simulate::Sum::automatic;
  bool expand = false;  ///< sums run their messages
  Machine machine;
  Plan plan;
  std::function<void(const simulate::Span&)> on_span = {};  ///< for a picture
};

/// One step of one rank.
struct Step {
  base::Seconds end{0};
  base::Seconds waited{0};
  std::uint64_t sent_bytes = 0;
};

/// All of it simulated. A step is one of the ranks with the largest share of the samples: those
/// with a smaller one take it now and then.
struct Outcome {
  base::Seconds span{0};  ///< until the last rank is through, with what `finish` does
  std::int64_t ranks_that_train = 0;
  base::Seconds per_step{0};    ///< of the rank that takes all and was last, without the first step
  double samples_per_step = 0;  ///< of all ranks that train, mean
  base::Seconds pass{0};        ///< of one batch on a device that is not slow
  base::Seconds exposed{0};     ///< waiting a step, mean over the ranks that train
  double bytes_per_step = 0;    ///< sent by a rank, mean over all ranks
  double messages_per_step = 0;
  base::Joules devices{0};                  ///< all of them
  base::Joules hosts{0};                    ///< all nodes beside their devices
  std::vector<simulate::Account> accounts;  ///< of each rank
  std::vector<std::vector<Step>> steps;     ///< of the first ranks, `most_recorded` of them
  static constexpr int most_recorded = 64;
};

/// The machine's ranks: one on each device.
simulate::Options options_of(const Rehearsal& rehearsal);

/// Throws what the method or the world throws: Error{usage} for what the method refuses.
Outcome run(const Rehearsal& rehearsal);

}  // namespace parajoule::rehearse
