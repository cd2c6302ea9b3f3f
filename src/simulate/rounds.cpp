#include "simulate/rounds.h"

#include <algorithm>
#include <unordered_map>

namespace parajoule::simulate {

double Round::seconds(double bytes) const {
  return std::max(near ? near->seconds(bytes) : 0, far ? far->seconds(bytes) : 0);
}

Ways::Ways(const comm::Topology& members, const Places& places)
    : members_(members), places_(places) {}

Round Ways::round(const std::vector<Message>& messages) const {
  std::unordered_map<std::size_t, int> outwards, inwards;
  const auto port = [&](int member, bool within) {
    return places_.port(members_.rank_of(member), within);
  };
  const auto within = [&](const Message& message) {
    return members_.node_of(message.from) == members_.node_of(message.to);
  };
  for (const Message& message : messages) {
    ++outwards[port(message.from, within(message))];
    ++inwards[port(message.to, within(message))];
  }
  const auto beside = [&](std::size_t from, std::size_t to, bool both_ways) {
    return std::max(outwards[from] + (both_ways ? inwards[from] : 0),
                    inwards[to] + (both_ways ? outwards[to] : 0));
  };
  Round round;
  for (const Message& message : messages) {
    const bool near = within(message);
    const std::size_t from = port(message.from, near), to = port(message.to, near);
    Hop hop = this->hop(message.from, message.to);
    hop.eager_seconds_per_byte *= beside(from, to, false);
    hop.seconds_per_byte *= beside(from, to, places_.half_duplex(near));
    std::optional<Hop>& slowest = near ? round.near : round.far;
    if (!slowest) slowest = hop;
    slowest->seconds_per_byte = std::max(slowest->seconds_per_byte, hop.seconds_per_byte);
    slowest->eager_seconds_per_byte =
        std::max(slowest->eager_seconds_per_byte, hop.eager_seconds_per_byte);
  }
  return round;
}

Round Ways::shift(int distance) const {
  std::vector<Message> messages;
  for (int member = 0; member < members(); ++member)
    messages.push_back({member, (member + distance) % members()});
  return round(messages);
}

Round Ways::exchange(const std::vector<int>& players, int distance) const {
  std::vector<Message> messages;
  for (int place = 0; place < int(players.size()); ++place)
    messages.push_back({players[std::size_t(place)], players[std::size_t(place ^ distance)]});
  return round(messages);
}

}  // namespace parajoule::simulate
