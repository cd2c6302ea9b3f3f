#include "comm/call.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "comm/combine.h"

namespace parajoule::comm {
namespace {

using Kind = Collective::Kind;

/// FNV-1a: equal lists give equal numbers, others hardly ever.
std::uint32_t checksum(const std::vector<std::size_t>& lengths) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (std::size_t length : lengths) sum = (sum ^ length) * 0x100000001b3;
  return std::uint32_t(sum ^ sum >> 32);
}

bool has_root(Kind kind) { return kind == Kind::broadcast || kind == Kind::reduce; }

bool contains(const std::vector<int>& ranks, int rank) {
  return std::ranges::find(ranks, rank) != ranks.end();
}

void check(const Collective& call, int members) {
  if (!call.values.empty() && call.values.place() != base::Place::host)
    base::ensure(false, "values that ranks exchange lie on the host");
  base::ensure(!call.codec, "values are encoded by a communicator that stands on comm::Summing");
  if (has_root(call.kind) && (call.root < 0 || call.root >= members)) {
    base::ensure(false, fmt::format("the root of a {} over {} ranks is one of them, not {}",
                                    name_of(call.kind), members, call.root));
  }
}

}  // namespace

Call::Call(Occasion at, const Collective& call)
    : at_(std::move(at)),
      call_(call),
      rendezvous_(at_.board.rendezvous(at_.context, at_.sequence)) {
  const Topology& topology = *at_.topology;
  check(call_, topology.size());
  // A barrier over several nodes goes the way of a sum of one number.
  if (call_.kind == Kind::barrier) call_.values = base::Vector(std::span(&token_, 1));
  blocks_ = blocks(call_, topology.size());
  for (int member = 0; member < topology.size(); ++member) {
    if (member == at_.own) continue;
    const bool here = topology.node_of(member) == topology.node_of(at_.own);
    if (here) mates_.push_back(topology.rank_of(member));
    if (here || at_.board.seat().options.check_collectives)
      expected_.push_back(topology.rank_of(member));
  }
  come();
  advance();
}

Call::~Call() { at_.board.forget(at_.context, at_.sequence); }

bool Call::carried() const {
  return call_.values.bytes() <= Note::room && at_.topology->node_count() == 1 &&
         !at_.board.seat().options.check_collectives;
}

void Call::come() {
  Seat& seat = at_.board.seat();
  own_ = {.context = at_.context,
          .sequence = at_.sequence,
          .count = call_.values.count(),
          .factor = call_.factor,
          .from = seat.rank,
          .tag = has_root(call_.kind) ? call_.root : 0,
          .parts = checksum(call_.lengths),
          .kind = Note::Kind::arrived,
          .call = call_.kind,
          .element = call_.values.element()};
  const auto* values = static_cast<const char*>(call_.values.data());
  const std::size_t bytes = call_.values.bytes();
  if (carried()) {
    own_.carried = std::uint8_t(bytes);
    std::copy_n(values, bytes, own_.payload.begin());
  } else {
    std::ranges::copy(call_.name.substr(0, Collective::longest_name), own_.payload.begin());
    if (!seat.memory.holds(values, bytes)) {
      staged_ = seat.memory.take(bytes);
      std::copy_n(values, bytes, reinterpret_cast<char*>(seat.memory.at(*staged_)));
    }
    own_.place = staged_ ? *staged_ : seat.memory.place_of(values);
  }
  for (int rank : expected_) {
    seat.post(rank, own_);
    seat.traffic.moved(own_.carried);
  }
}

void Call::advance() {
  if (stage_ == Stage::gathering && all_have_come()) {
    if (carried()) {
      combine_carried();
      stage_ = Stage::over;
      return;
    }
    set_scene();
    write_scripts();
    stage_ = Stage::working;
  }
  if (stage_ == Stage::working && work()) stage_ = Stage::finishing;
  if (stage_ == Stage::finishing && rendezvous_.finished.size() == mates_.size()) end();
  // Whoever complains is answered, lest it takes this rank for missing.
  if (stage_ != Stage::over && !announced_ && !rendezvous_.waiting.empty()) announce();
}

bool Call::all_have_come() {
  for (; agreed_ < rendezvous_.arrived.size(); ++agreed_) agree(own_, rendezvous_.arrived[agreed_]);
  return agreed_ == expected_.size();
}

void Call::combine_carried() {
  const Topology& topology = *at_.topology;
  std::vector<const Note*> notes(std::size_t(topology.size()), &own_);
  for (const Note& note : rendezvous_.arrived)
    notes[std::size_t(topology.member_of(note.from))] = &note;
  const auto values = [&](int member) {
    return reinterpret_cast<const std::byte*>(notes[std::size_t(member)]->payload.data());
  };
  auto* const own = static_cast<std::byte*>(call_.values.data());
  const std::size_t width = base::bytes_of(call_.values.element());
  Combination sum{.kind = arithmetic(call_.kind),
                  .element = call_.values.element(),
                  .count = call_.values.count(),
                  .to = {own}};
  for (int member = 0; member < topology.size(); ++member) {
    const base::Range block = blocks_[std::size_t(member)];
    if (call_.kind == Kind::all_gather) {
      std::copy_n(values(member) + block.begin * width, block.size() * width,
                  own + block.begin * width);
    } else if (call_.kind != Kind::broadcast) {
      sum.from.push_back({values(member), notes[std::size_t(member)]->factor});
    }
  }
  if (call_.kind == Kind::broadcast) std::copy_n(values(call_.root), call_.values.bytes(), own);
  combine(sum);
}

void Call::set_scene() {
  Seat& seat = at_.board.seat();
  const Topology& topology = *at_.topology;
  scene_.emplace(Scene{.board = at_.board,
                       .topology = topology,
                       .key = {at_.context, at_.sequence, 0},
                       .own = at_.own,
                       .kind = call_.kind,
                       .element = call_.values.element(),
                       .root = call_.root,
                       .places = std::vector<Scene::Place>(std::size_t(topology.size()))});
  scene_->places[std::size_t(at_.own)] = {seat.memory.at(own_.place), own_.factor};
  for (const Note& note : rendezvous_.arrived) {
    const int member = topology.member_of(note.from);
    if (topology.node_of(member) != topology.node_of(at_.own)) continue;
    std::byte* values = seat.node.at(*seat.node.member_of(note.from), note.place);
    scene_->places[std::size_t(member)] = {values, note.factor};
  }
}

void Call::write_scripts() {
  const Topology& topology = *at_.topology;
  const int node = topology.node_of(at_.own);
  const bool root_of_reduce = call_.kind == Kind::reduce && call_.root == at_.own;
  for (int block = 0; block < topology.size(); ++block) {
    const base::Range range = blocks_[std::size_t(block)];
    if (range.size() == 0) continue;
    if (topology.responsible(node, block) == at_.own)
      scripts_.push_back(std::make_unique<Script>(*scene_, block, range));
    else if (root_of_reduce && topology.node_of(block) != node)
      scripts_.push_back(Script::receive_only(*scene_, block, range));
  }
}

bool Call::work() {
  std::erase_if(scripts_, [](auto& script) { return script->advance(); });
  if (!scripts_.empty()) return false;
  Seat& seat = at_.board.seat();
  for (int rank : mates_) {
    seat.post(rank, {.context = at_.context,
                     .sequence = at_.sequence,
                     .from = seat.rank,
                     .kind = Note::Kind::finished});
  }
  return true;
}

void Call::end() {
  stage_ = Stage::over;
  if (!staged_) return;
  Memory& memory = at_.board.seat().memory;
  std::copy_n(memory.at(*staged_), call_.values.bytes(),
              static_cast<std::byte*>(call_.values.data()));
  memory.give_back(*staged_);
}

void Call::announce() {
  announced_ = true;
  Seat& seat = at_.board.seat();
  for (int rank : at_.topology->ranks()) {
    if (rank == seat.rank) continue;
    seat.post(rank, {.context = at_.context,
                     .sequence = at_.sequence,
                     .from = seat.rank,
                     .kind = Note::Kind::waiting});
  }
}

Absence Call::absence() const {
  const std::vector<int> direct = awaited();
  std::vector<int> missing = direct;
  std::erase_if(missing, [&](int rank) { return contains(rendezvous_.waiting, rank); });
  // Those this rank waits for may themselves wait for another.
  if (missing.empty() && announced_) {
    missing = at_.topology->ranks();
    std::erase_if(missing, [&](int rank) { return rank == own_.from || has_shown_up(rank); });
  }
  return {described(own_), missing.empty() ? direct : missing};
}

std::vector<int> Call::awaited() const {
  std::vector<int> ranks;
  if (stage_ == Stage::gathering) ranks = expected_;
  if (stage_ == Stage::finishing) ranks = mates_;
  std::erase_if(ranks, [&](int rank) {
    return stage_ == Stage::gathering ? has_come(rank) : contains(rendezvous_.finished, rank);
  });
  for (const auto& script : scripts_)
    for (int rank : script->awaited()) ranks.push_back(rank);
  std::ranges::sort(ranks);
  const auto again = std::ranges::unique(ranks);
  ranks.erase(again.begin(), again.end());
  return ranks;
}

bool Call::has_come(int rank) const {
  return std::ranges::any_of(rendezvous_.arrived,
                             [&](const Note& note) { return note.from == rank; });
}

bool Call::has_shown_up(int rank) const {
  return has_come(rank) || contains(rendezvous_.finished, rank) ||
         contains(rendezvous_.waiting, rank);
}

}  // namespace parajoule::comm
