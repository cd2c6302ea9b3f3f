#include "simulate/halving.h"

#include <algorithm>
#include <bit>

namespace parajoule::simulate {

using Traffic = comm::Communicator::Traffic;

Halving::Halving(const Ways& ways, const std::vector<int>& players)
    : players_(int(players.size())) {
  for (int distance = 1; distance < players_; distance *= 2)
    rounds_.push_back(ways.exchange(players, distance));
}

double Halving::seconds(double bytes) const {
  double sum = 0;
  for (const Round& round : rounds_) sum += round.seconds(bytes /= 2);
  return sum;
}

Traffic Halving::sent(std::uint64_t bytes) const {
  const auto n = std::uint64_t(players_);
  return {(n - 1) * bytes / n, rounds_.size()};
}

HalvingDoubling::HalvingDoubling(const Ways& ways, std::vector<int> players)
    : players_(std::move(players)),
      paired_(int(players_.size() - std::bit_floor(players_.size()))),
      halving_(ways, unpaired()),
      pairs_(pairs(ways)) {}

std::vector<int> HalvingDoubling::unpaired() const {
  std::vector<int> unpaired;
  for (int place = 0; place < int(players_.size()); ++place)
    if (place >= 2 * paired_ || place % 2 == 0) unpaired.push_back(players_[std::size_t(place)]);
  return unpaired;
}

Round HalvingDoubling::pairs(const Ways& ways) const {
  std::vector<Ways::Message> messages;
  for (std::size_t pair = 0; pair < std::size_t(paired_); ++pair)
    messages.push_back({players_[2 * pair + 1], players_[2 * pair]});
  return ways.round(messages);
}

void HalvingDoubling::finish(double bytes, std::span<double> clocks) const {
  const auto clock = [&](std::size_t place) -> double& {
    return clocks[std::size_t(players_[place])];
  };
  // A pair exchanges halves, then one of them hands over its half of the sum.
  const double joining = paired_ > 0 ? 2 * pairs_.seconds(bytes / 2) : 0;
  const double returning = paired_ > 0 ? pairs_.seconds(bytes) : 0;
  for (std::size_t pair = 0; pair < std::size_t(paired_); ++pair)
    clock(2 * pair) = clock(2 * pair + 1) =
        std::max(clock(2 * pair), clock(2 * pair + 1)) + joining;
  double last = clock(0);
  for (std::size_t place = 0; place < players_.size(); ++place) last = std::max(last, clock(place));
  last += 2 * halving_.seconds(bytes);
  for (std::size_t place = 0; place < players_.size(); ++place)
    clock(place) = place < 2 * std::size_t(paired_) ? last + returning : last;
}

Traffic HalvingDoubling::sent(std::uint64_t bytes, int place) const {
  Traffic all = halving_.sent(bytes);
  all = {2 * all.bytes, 2 * all.messages};
  if (place >= 2 * paired_) return all;
  // Half of the values each; then the odd one its half of the sum, and at the end the even one all.
  if (place % 2 == 1) return {bytes, 2};
  return {all.bytes + bytes / 2 + bytes, all.messages + 2};
}

}  // namespace parajoule::simulate
