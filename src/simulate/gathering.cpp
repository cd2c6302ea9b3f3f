#include "simulate/gathering.h"

#include <algorithm>

namespace parajoule::simulate {

/// For the error that names who waits for whom.
class Gathering::Absent final : public Awaited {
 public:
  explicit Absent(const Gathering& gathering) : gathering_(gathering) {}
  comm::Absence absence() const override {
    comm::Absence absence{.what = gathering_.name()};
    for (int member = 0; member < gathering_.members_->topology.size(); ++member)
      if (gathering_.stage_ == Stage::gathering && gathering_.clocks_[std::size_t(member)] < 0)
        absence.ranks.push_back(gathering_.members_->topology.rank_of(member));
    return absence;
  }

 private:
  const Gathering& gathering_;
};

Gathering::Gathering(Kernel& kernel, std::shared_ptr<const Members> members,
                     const comm::Collective& first, const comm::Note& note)
    : kernel_(kernel),
      members_(std::move(members)),
      call_(first),
      note_(note),
      named_(first.name),
      missing_(std::size_t(members_->topology.size())),
      clocks_(missing_, -1.0),
      least_(members_->costs.least(first)),
      way_(members_->topology.node_count() > 1 ? 1 : 0) {
  call_.name = named_;
}

void Gathering::come(int member, const comm::Collective& call, const comm::Note& note) {
  comm::agree(note_, note);
  Runner& own = runner(member);
  clocks_[std::size_t(member)] = own.clock;
  last_ = std::max(last_, own.clock);
  const auto sent = members_->costs.sent(call, member);
  own.account.traffic.bytes += sent.bytes;
  own.account.traffic.messages += sent.messages;
  if (call.values.data() && !call.values.empty()) {
    if (!real()) {
      contributions_.resize(clocks_.size());
      seals_.resize(clocks_.size());
    }
    contributions_[std::size_t(member)] = {call.values, call.factor};
    seals_[std::size_t(member)] = Seal(call.values);
  }
  if (--missing_ == 0) kernel_.at(std::max(last_, kernel_.now()), *this);
}

void Gathering::happen() {
  if (stage_ == Stage::gathering) return set_end();
  move_values();
}

void Gathering::set_end() {
  double begin = last_;
  for (int member = 0; member < int(clocks_.size()); ++member) {
    double& clock = clocks_[std::size_t(member)];
    if (clocks_.size() > 1) clock = std::max(clock, way_free(runner(member)));
    begin = std::max(begin, clock);
  }
  members_->costs.finish(call_, clocks_);
  const double latencies = members_->costs.latencies(call_);
  const bool moves = call_.kind != comm::Collective::Kind::barrier && clocks_.size() > 1;
  for (int member = 0; member < int(clocks_.size()); ++member) {
    Runner& one = runner(member);
    const double end = clocks_[std::size_t(member)];
    // Of several under way at once the latencies pass together; their values share one way.
    if (clocks_.size() > 1) way_free(one) = std::max(way_free(one), end - latencies);
    const double since = std::max(std::min(begin, end), one.collectives_until);
    one.collectives_until = std::max(one.collectives_until, end);
    if (moves) kernel_.transferred(one, comm::name_of(call_.kind), since, end);
  }
  stage_ = Stage::ended;
  if (real()) kernel_.at(*std::ranges::min_element(clocks_), *this);
  // Those that wait look again: real values move before any of them is through.
  for (Runner* waiting : waiting_) kernel_.wake(*waiting, kernel_.now());
  waiting_.clear();
}

void Gathering::move_values() {
  check_seals();
  combine(call_, members_->topology, contributions_);
  for (std::size_t i = 0; i < seals_.size(); ++i) seals_[i] = Seal(contributions_[i].values);
  stage_ = Stage::moved;
}

void Gathering::check_seals() const {
  for (std::size_t i = 0; i < seals_.size(); ++i)
    seals_[i].check(contributions_[i].values, members_->topology.rank_of(int(i)), name());
}

bool Gathering::done(int member) {
  Runner& own = runner(member);
  // Not before the formula allows, however early the others came: then it need not look.
  const double came = clocks_[std::size_t(member)];
  const double begins = clocks_.size() > 1 ? std::max(came, way_free(own)) : came;
  const bool may_be_through = stage_ != Stage::gathering || own.clock >= begins + least_;
  if (may_be_through && stage_ == Stage::gathering) kernel_.settle();
  if (may_be_through && stage_ != Stage::gathering && own.clock >= clocks_[std::size_t(member)]) {
    leave(member);
    return true;
  }
  kernel_.not_yet(Absent(*this));
  return false;
}

void Gathering::wait_or(int member, const std::function<bool()>& enough) {
  Runner& own = runner(member);
  const Absent absent(*this);
  while (stage_ == Stage::gathering) {
    if (enough()) return;
    waiting_.push_back(&own);
    kernel_.listen(absent);
    std::erase(waiting_, &own);
  }
  kernel_.wait_until(clocks_[std::size_t(member)]);
  leave(member);
}

void Gathering::leave(int member) {
  if (!real()) return;
  // They move at a moment that is not after this rank's.
  while (stage_ != Stage::moved) kernel_.settle();
  seals_[std::size_t(member)].check(contributions_[std::size_t(member)].values,
                                    members_->topology.rank_of(member), name());
  // Others may be through later; this one's memory is its own again.
  contributions_[std::size_t(member)].values = {};
  seals_[std::size_t(member)] = Seal(base::Vector());
}

}  // namespace parajoule::simulate
