#include "comm/switchboard.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

using Clock = std::chrono::steady_clock;
using base::Seconds;

/// How often a waiting rank looks whether the others still live.
constexpr Seconds rounds{0.1};
/// A wire has to be asked: how long a rank sleeps in between, at first and at most.
constexpr Seconds shortest_sleep{20e-6};
constexpr Seconds longest_sleep{1e-3};
constexpr Seconds longest_sleep_while_carrying{50e-6};

std::string ranks_in_words(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace

/// The user's end of something under way.
class Switchboard::Underway final : public Pending::Transfer {
 public:
  Underway(Switchboard& board, std::unique_ptr<Moving> moving)
      : board_(board), moving_(std::move(moving)) {
    board_.under_way_.push_back(moving_.get());
  }
  ~Underway() override { std::erase(board_.under_way_, moving_.get()); }

  bool done() override {
    if (!moving_->finished()) board_.progress();
    return moving_->finished();
  }
  void wait() override { board_.wait(*moving_); }
  void wait_or(const std::function<bool()>& enough) override { board_.wait(*moving_, enough); }

 private:
  Switchboard& board_;
  std::unique_ptr<Moving> moving_;
};

/// What happens to a rank as it waits longer and longer.
class Switchboard::Patience {
 public:
  Patience(Switchboard& board, Moving& moving) : board_(board), moving_(moving) {}

  /// Sleeps until there may be something to do.
  void sleep(std::uint32_t bell) {
    Node& node = board_.seat_.node;
    node.sleep(bell, at_most());
    pause_ = node.bell() == bell ? 2 * pause_ : shortest_sleep;
    const Seconds waited = Clock::now() - since_;
    if (waited < next_round_) return;
    next_round_ = waited + rounds;
    board_.look_after(moving_);
    complain(waited);
  }

 private:
  Seconds at_most() const {
    const auto& wire = board_.seat_.wire;
    if (!wire) return rounds;
    return std::min(pause_, wire->carrying() ? longest_sleep_while_carrying : longest_sleep);
  }

  void complain(Seconds waited) {
    const Options& options = board_.seat_.options;
    if (!announced_ && waited > options.stall / 4) {
      announced_ = true;
      moving_.announce();
    }
    const Absence absence = moving_.absence();
    if (absence.ranks.empty()) return;  // all have come just now
    if (waited > options.give_up) board_.give_up(absence);
    if (waited < next_report_) return;
    next_report_ += options.stall;
    if (!options.on_stall) return;
    options.on_stall(fmt::format("rank {} has waited {:.0f} s in {} for {}", board_.seat_.rank,
                                 waited.count(), absence.what, ranks_in_words(absence.ranks)));
  }

  Switchboard& board_;
  Moving& moving_;
  Clock::time_point since_ = Clock::now();
  Seconds pause_ = shortest_sleep;
  Seconds next_round_ = rounds;
  Seconds next_report_ = board_.seat_.options.stall;
  bool announced_ = false;
};

Switchboard::Switchboard(Seat seat) : seat_(std::move(seat)), messages_(seat_) {}

Memory& Switchboard::scratch() {
  if (!scratch_) scratch_.emplace(Segment::in_process(seat_.node.segment()->bytes()), 0);
  return *scratch_;
}

Rendezvous& Switchboard::rendezvous(std::uint64_t context, std::uint64_t sequence) {
  return rendezvous_[{context, sequence}];
}

void Switchboard::forget(std::uint64_t context, std::uint64_t sequence) {
  rendezvous_.erase({context, sequence});
}

Pending Switchboard::begin(std::unique_ptr<Moving> moving) {
  if (moving->finished()) return Pending();
  return Pending(std::make_unique<Underway>(*this, std::move(moving)));
}

void Switchboard::take(const Note& note) {
  switch (note.kind) {
    case Note::Kind::arrived:
      return rendezvous(note.context, note.sequence).arrived.push_back(note);
    case Note::Kind::finished:
      return rendezvous(note.context, note.sequence).finished.push_back(note.from);
    case Note::Kind::waiting:
      return rendezvous(note.context, note.sequence).waiting.push_back(note.from);
    case Note::Kind::message:
    case Note::Kind::taken:
      return messages_.take(note);
  }
}

void Switchboard::progress() {
  throw_if_out();
  seat_.node.flush();
  notes_.clear();
  seat_.node.collect(notes_);
  if (seat_.wire) seat_.wire->collect(notes_);
  // Taking a note may not call back here: notes_ stays as it is.
  for (const Note& note : notes_) take(note);
  for (Moving* moving : under_way_) moving->advance();
}

void Switchboard::wait(Moving& moving, const std::function<bool()>& enough) {
  Patience patience(*this, moving);
  while (!moving.finished()) {
    // Read before looking: what comes while `enough` looks around rings it again.
    const std::uint32_t bell = seat_.node.bell();
    progress();
    if (moving.finished() || enough()) return;
    if (!moving.finished()) patience.sleep(bell);
  }
}

std::optional<Failure> Switchboard::failure() const {
  if (auto here = seat_.node.failure()) return here;
  return seat_.wire ? seat_.wire->failure() : std::nullopt;
}

void Switchboard::throw_if_out() const {
  const auto out = failure();
  if (out) throw base::Error(base::Fault::peer, fmt::format("rank {} {}", out->rank, out->what));
}

void Switchboard::look_after(Moving& moving) {
  if (const auto dead = seat_.node.dead()) {
    fail({seat_.node.rank_of(*dead), "died: its process is gone"});
    throw_if_out();
  }
  if (!missed(moving.absence())) return;
  progress();  // its last notes came before it left
  if (moving.finished()) return;
  const Absence absence = moving.absence();
  const auto rank = missed(absence);
  if (!rank) return;
  fail({*rank, fmt::format("has left, and rank {} waits for it in {}", seat_.rank, absence.what)});
  throw_if_out();
}

std::optional<int> Switchboard::missed(const Absence& absence) const {
  const auto gone = [&](int rank) {
    const auto member = seat_.node.member_of(rank);
    return member && seat_.node.left(*member);
  };
  const auto first = std::ranges::find_if(absence.ranks, gone);
  if (first == absence.ranks.end()) return std::nullopt;
  if (absence.need == Absence::Need::one && !std::ranges::all_of(absence.ranks, gone))
    return std::nullopt;
  return *first;
}

void Switchboard::give_up(const Absence& absence) {
  fail({absence.ranks.front(), fmt::format("did not come to {} in {:.0f} s", absence.what,
                                           seat_.options.give_up.count())});
  throw_if_out();
}

void Switchboard::fail(const Failure& own) noexcept {
  const Failure first = failure().value_or(own);
  seat_.node.fail(first);
  if (seat_.wire) seat_.wire->fail(first);
}

void Switchboard::leave() {
  while (!seat_.node.flush()) {
    const std::uint32_t bell = seat_.node.bell();
    progress();
    seat_.node.sleep(bell, rounds);
  }
  seat_.node.leave();
}

}  // namespace parajoule::comm
