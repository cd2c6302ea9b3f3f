#pragma once

// One collective, from the first member that comes to the last that leaves.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/note.h"
#include "simulate/circle.h"
#include "simulate/combining.h"
#include "simulate/kernel.h"
#include "simulate/seal.h"

namespace parajoule::simulate {

/// When the last member has come, it is known when each is through: a collective begins when the
/// values of the earlier ones of each member have passed, so that they follow each other on its
/// way, while their latencies pass together. Real values move when the first is through.
class Gathering final : public Event {
 public:
  /// `first`: the call of the first to come.
  Gathering(Kernel& kernel, std::shared_ptr<const Members> members, const comm::Collective& first,
            const comm::Note& note);

  /// Throws Error{bug} that names both sides where this call is another one.
  void come(int member, const comm::Collective& call, const comm::Note& note);
  bool complete() const { return missing_ == 0; }

  /// Called for the rank that runs.
  bool done(int member);
  void wait_or(int member, const std::function<bool()>& enough);

  void happen() override;

 private:
  class Absent;

  bool real() const { return !contributions_.empty(); }
  void set_end();
  void move_values();
  void check_seals() const;
  void leave(int member);
  Runner& runner(int member) const { return kernel_.runner(members_->topology.rank_of(member)); }
  /// When the way that this collective takes is free.
  double& way_free(Runner& runner) const { return runner.way_free[way_]; }
  std::string name() const { return comm::described(note_); }

  Kernel& kernel_;
  std::shared_ptr<const Members> members_;
  comm::Collective call_;
  comm::Note note_;
  std::string named_;  ///< the name of the call, which it points to
  std::size_t missing_;
  double last_ = 0;             ///< when the last so far came
  std::vector<double> clocks_;  ///< when each came (none yet: below zero); then: is through
  enum class Stage { gathering, ended, moved } stage_ = Stage::gathering;
  double least_;                             ///< seconds from coming to being through
  std::size_t way_;                          ///< within a node, or to others
  std::vector<Contribution> contributions_;  ///< if any of them has elements
  std::vector<Seal> seals_;
  std::vector<Runner*> waiting_;
};

}  // namespace parajoule::simulate
