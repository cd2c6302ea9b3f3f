#include "simulate/group.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::simulate {
namespace {

constexpr std::align_val_t line{64};

void give_back(std::byte* memory) { ::operator delete[](memory, line); }

}  // namespace

Group::Group(Exchange& exchange, Runner& own, std::shared_ptr<Circle> circle)
    : exchange_(exchange),
      own_(own),
      circle_(std::move(circle)),
      member_(topology().member_of(own.rank)) {}

base::Vector Group::allocate(base::Element element, std::size_t count) {
  if (exchange_.kernel.options().numbers == Options::Numbers::none)
    return {nullptr, count, element, base::Place::nowhere, exchange_.operations};
  const std::size_t bytes = std::max<std::size_t>(count * base::bytes_of(element), 1);
  auto* const memory = static_cast<std::byte*>(::operator new[](bytes, line));
  memory_.emplace_back(memory, &give_back);
  std::memset(memory, 0, bytes);
  return {memory, count, element, base::Place::host, exchange_.operations};
}

comm::Pending Group::start(const comm::Collective& call) {
  return comm::Pending(circle_->start(call, member_));
}

comm::Pending Group::start_send(base::Vector values, int to, int tag) {
  check_member(to, "a message goes to");
  return comm::Pending(exchange_.messages.send(key(tag), topology().rank_of(to), values));
}

comm::Pending Group::start_receive(base::Vector values, int from, int tag) {
  return comm::Pending(exchange_.messages.receive(key(tag), senders(from), values));
}

std::optional<comm::Communicator::Arrived> Group::arrived(int from, int tag) {
  const auto message = exchange_.messages.arrived(key(tag), senders(from));
  if (!message) return {};
  return told(*message);
}

comm::Communicator::Arrived Group::await(int from, int tag) {
  return told(exchange_.messages.await(key(tag), senders(from)));
}

std::unique_ptr<comm::Communicator> Group::group(std::span<const int> ranks) {
  std::vector<int> world;
  for (int member : ranks) {
    check_member(member, "a group is made of");
    world.push_back(topology().rank_of(member));
  }
  if (std::ranges::find(ranks, member_) == ranks.end())
    base::ensure(false, fmt::format("rank {} makes only groups that it belongs to", member_));
  return std::make_unique<Group>(exchange_, own_, exchange_.circles.join(world, own_.rank));
}

void Group::check_member(int member, std::string_view what) const {
  if (member >= 0 && member < size()) return;
  base::ensure(false, fmt::format("{} one of {} ranks, not {}", what, size(), member));
}

std::vector<int> Group::senders(int from) const {
  if (from == anyone) return topology().ranks();
  check_member(from, "a message comes from");
  return {topology().rank_of(from)};
}

}  // namespace parajoule::simulate
