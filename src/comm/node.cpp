#include "comm/node.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

namespace parajoule::comm {
namespace {

/// Spinning costs a core and saves the kernel's way of sleeping and waking; this is about its
/// price, so that waiting never costs more than twice the least.
constexpr int turns_awake = 200;

bool core_for_each(int members, const std::vector<std::shared_ptr<Segment>>& segments) {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const auto& segment : segments) {
    const auto* desk = std::launder(reinterpret_cast<const Desk*>(segment->begin()));
    CPU_OR(&all, &all, &desk->cores);
  }
  return CPU_COUNT(&all) >= members;
}

void breathe() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

std::size_t Node::head_bytes(int members) { return sizeof(Desk) + members * sizeof(Ring); }

void Node::furnish(Segment& segment, int members) {
  segment.back(0, head_bytes(members));
  auto* desk = new (segment.begin()) Desk;
  sched_getaffinity(0, sizeof(cpu_set_t), &desk->cores);
  std::byte* place = segment.begin() + sizeof(Desk);
  for (int member = 0; member < members; ++member) new (place + member * sizeof(Ring)) Ring;
}

Node::Node(std::vector<int> ranks, std::vector<std::shared_ptr<Segment>> segments, int own)
    : ranks_(std::move(ranks)),
      segments_(std::move(segments)),
      own_(own),
      awake_first_(core_for_each(size(), segments_)),
      unsent_(ranks_.size()) {}

std::optional<int> Node::member_of(int rank) const {
  const auto found = std::ranges::lower_bound(ranks_, rank);
  if (found == ranks_.end() || *found != rank) return std::nullopt;
  return int(found - ranks_.begin());
}

std::byte* Node::at(int member, std::uint64_t place) const {
  return segments_[std::size_t(member)]->begin() + place;
}

Desk& Node::desk(int member) const { return *std::launder(reinterpret_cast<Desk*>(at(member, 0))); }

Ring& Node::ring(int to, int from) const {
  return *std::launder(reinterpret_cast<Ring*>(at(to, sizeof(Desk) + from * sizeof(Ring))));
}

void Node::post(int member, const Note& note) {
  auto& unsent = unsent_[std::size_t(member)];
  if (unsent.empty() && ring(member, own_).push(note)) return desk(member).bell.ring();
  unsent.push_back(note);
}

bool Node::flush() {
  bool all = true;
  for (int member = 0; member < size(); ++member) {
    auto& unsent = unsent_[std::size_t(member)];
    if (left(member)) unsent.clear();
    if (unsent.empty()) continue;
    while (!unsent.empty() && ring(member, own_).push(unsent.front())) unsent.pop_front();
    desk(member).bell.ring();
    all = all && unsent.empty();
  }
  return all;
}

void Node::collect(std::vector<Note>& into) {
  for (int member = 0; member < size(); ++member)
    while (const auto note = ring(own_, member).pop()) into.push_back(*note);
}

void Node::sleep(std::uint32_t since, base::Seconds at_most) {
  Bell& bell = desk(own_).bell;
  if (awake_first_) {
    for (int turn = 0; turn < turns_awake; ++turn) {
      if (bell.rung() != since) return;
      breathe();
    }
  }
  bell.sleep(since, at_most);
}

void Node::fail(const Failure& failure) noexcept {
  Desk& own = desk(own_);
  if (own.state.load() != Desk::State::present) return;
  own.failed_rank = failure.rank;
  const std::size_t length = std::min(failure.what.size(), own.failure.size() - 1);
  std::memcpy(own.failure.data(), failure.what.data(), length);
  own.state.store(Desk::State::failed);
  alarm();
}

void Node::leave() noexcept {
  if (desk(own_).state.load() != Desk::State::present) return;
  desk(own_).state.store(Desk::State::left);
  alarm();
}

void Node::alarm() noexcept {
  for (int member = 0; member < size(); ++member) {
    desk(member).alarm.store(1);
    desk(member).bell.ring();
  }
}

std::optional<Failure> Node::failure() const {
  if (desk(own_).alarm.load(std::memory_order_relaxed) == 0) return std::nullopt;
  for (int member = 0; member < size(); ++member) {
    const Desk& other = desk(member);
    if (other.state.load() == Desk::State::failed)
      return Failure{other.failed_rank, std::string(other.failure.data())};
  }
  return std::nullopt;
}

bool Node::left(int member) const { return desk(member).state.load() == Desk::State::left; }

std::optional<int> Node::dead() const {
  const auto present = [&](int member) {
    return desk(member).state.load() == Desk::State::present;
  };
  for (int member = 0; member < size(); ++member) {
    if (member == own_ || !present(member)) continue;
    const bool gone = !segments_[std::size_t(member)]->owner_lives();
    // It may have left in good order between the two looks.
    if (gone && present(member)) return member;
  }
  return std::nullopt;
}

}  // namespace parajoule::comm
