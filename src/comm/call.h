#pragma once

// A collective under way in one rank.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "comm/moving.h"
#include "comm/script.h"
#include "comm/switchboard.h"
#include "comm/topology.h"

namespace parajoule::comm {

/// Which collective of which group.
struct Occasion {
  Switchboard& board;
  std::shared_ptr<const Topology> topology;
  std::uint64_t context;
  std::uint64_t sequence;  ///< from 1
  int own;                 ///< this rank's member
};

/// A rank tells the others of its node that it has come and where its values lie. When all have
/// come, each works on the blocks it is responsible for, in place in everyone's memory (script.h).
/// When all have told that they are through, the call is over.
///
/// Values of at most `Note::room` bytes of ranks of one node travel with the notes, and each rank
/// combines them itself.
class Call final : public Moving {
 public:
  Call(Occasion at, const Collective& call);
  ~Call() override;

  void advance() override;
  bool finished() const override { return stage_ == Stage::over; }
  Absence absence() const override;
  void announce() override;

 private:
  enum class Stage { gathering, working, finishing, over };

  bool carried() const;
  void come();
  bool all_have_come();
  void combine_carried();
  void set_scene();
  void write_scripts();
  bool work();
  void end();
  std::vector<int> awaited() const;  ///< the ranks without which it does not go on from here
  bool has_come(int rank) const;
  bool has_shown_up(int rank) const;

  Occasion at_;
  Collective call_;
  std::int64_t token_ = 0;  ///< the value of a barrier
  std::vector<base::Range> blocks_;
  std::vector<int> mates_;     ///< the others of this node, as ranks of the world
  std::vector<int> expected_;  ///< those whose arrival this rank waits for
  Rendezvous& rendezvous_;
  Note own_;
  Stage stage_ = Stage::gathering;
  std::size_t agreed_ = 0;               ///< of the notes that have come
  std::optional<std::uint64_t> staged_;  ///< where a copy of the values lies
  bool announced_ = false;
  std::optional<Scene> scene_;
  std::vector<std::unique_ptr<Script>> scripts_;
};

}  // namespace parajoule::comm
