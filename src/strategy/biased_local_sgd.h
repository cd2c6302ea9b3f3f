#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class BiasedLocalSgd final : public Replicated {
 public:
  enum class Weights { equal, steps };
  struct Options {
    std::vector<std::int64_t> slow_ranks = {};
    std::int64_t slow_steps = 1;
    std::int64_t fast_steps = 32;
    std::int64_t candidates = 4;  ///< for each sample of the slow ranks
    bool biased = true;
    Weights weights = Weights::equal;

    bool slow(int rank) const;
    /// Steps of a rank, or of all, in a round.
    std::int64_t steps(int rank) const { return slow(rank) ? slow_steps : fast_steps; }
    std::int64_t steps_of_all(int ranks) const;
  };
  BiasedLocalSgd(comm::Communicator& group, Options options);

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  bool chooses() const { return options_.biased && !options_.slow_ranks.empty(); }
  void choose(Worker& worker);
  void end_round(Worker& worker);
  std::vector<std::int64_t> own_samples(const Worker& worker, base::Vector losses,
                                        std::int64_t rounds) const;
  void average(base::Vector weights, base::Vector buffers) override;

  Options options_;
  std::int64_t own_steps_;        ///< of this rank in a round
  double weight_;                 ///< of this rank's replica in the mean
  std::int64_t place_ = 0;        ///< of this rank among the slow, or among the fast
  std::int64_t steps_ = 0;        ///< of this rank
  std::int64_t next_choice_ = 0;  ///< round before which samples are chosen again
  std::int64_t choices_ = 0;
  std::int64_t batch_ = 0;  ///< samples of a step when the last round ended; 0: none has
};

}  // namespace parajoule::strategy
