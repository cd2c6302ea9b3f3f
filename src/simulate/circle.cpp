#include "simulate/circle.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "comm/note.h"
#include "simulate/gathering.h"

namespace parajoule::simulate {
namespace {

using Kind = comm::Collective::Kind;

bool has_root(Kind kind) { return kind == Kind::broadcast || kind == Kind::reduce; }

/// FNV-1a: equal lists give equal numbers, others hardly ever.
std::uint32_t checksum(const std::vector<std::size_t>& lengths) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t length : lengths) sum = (sum ^ length) * 0x100000001b3;
  return std::uint32_t(sum ^ sum >> 32);
}

void check(const comm::Collective& call, int members) {
  base::ensure(!call.codec, "a world in virtual time knows no codecs: put a Summing on it");
  if (call.values.place() == base::Place::device)
    base::ensure(false, "values that ranks exchange lie on the host");
  if (has_root(call.kind) && (call.root < 0 || call.root >= members)) {
    base::ensure(false, fmt::format("the root of a {} over {} ranks is one of them, not {}",
                                    comm::name_of(call.kind), members, call.root));
  }
  if (!call.lengths.empty()) comm::blocks(call, members);
}

class Part final : public comm::Pending::Transfer {
 public:
  Part(std::shared_ptr<Gathering> gathering, int member)
      : gathering_(std::move(gathering)), member_(member) {}
  bool done() override { return gathering_->done(member_); }
  void wait() override {
    gathering_->wait_or(member_, [] { return false; });
  }
  void wait_or(const std::function<bool()>& enough) override {
    gathering_->wait_or(member_, enough);
  }

 private:
  std::shared_ptr<Gathering> gathering_;
  int member_;
};

}  // namespace

std::unique_ptr<comm::Pending::Transfer> Circle::start(const comm::Collective& call, int member) {
  check(call, members->topology.size());
  const std::uint64_t sequence = ++sequences_[std::size_t(member)];
  comm::Note note{.context = context,
                  .sequence = sequence,
                  .count = call.values.count(),
                  .from = kernel.running().rank,
                  .tag = has_root(call.kind) ? call.root : 0,
                  .parts = checksum(call.lengths),
                  .call = call.kind,
                  .element = call.values.element()};
  std::ranges::copy(call.name.substr(0, comm::Collective::longest_name), note.payload.begin());
  auto& open = open_[sequence];
  if (!open) open = std::make_shared<Gathering>(kernel, members, call, note);
  open->come(member, call, note);
  auto part = std::make_unique<Part>(open, member);
  if (open->complete()) open_.erase(sequence);
  return part;
}

std::shared_ptr<Circle> Circles::join(const std::vector<int>& ranks, int rank) {
  List& list = lists_[ranks];
  if (!list.members)
    list.members = std::make_shared<const Members>(ranks, places_, kernel_.options().sum);
  const std::size_t number = list.made[rank]++;
  auto& open = list.open[number];
  if (!open.circle) open.circle = std::make_shared<Circle>(kernel_, list.members, ++circles_);
  const std::shared_ptr<Circle> circle = open.circle;
  if (++open.joined == ranks.size()) list.open.erase(number);
  return circle;
}

}  // namespace parajoule::simulate
