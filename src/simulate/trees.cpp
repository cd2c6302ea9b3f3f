#include "simulate/trees.h"

#include <algorithm>

namespace parajoule::simulate {
Tree::Tree(const Ways& ways, std::vector<int> players)
    : ways_(ways), players_(std::move(players)), below_(players_.size()) {
  const int count = int(players_.size());
  for (int place = 0; place < count; ++place)
    for (int d = 1; place + d < count && (place & d) == 0; d *= 2)
      below_[std::size_t(place)].push_back(place + d);
}

void Tree::reduce(double bytes, std::span<double> clocks) const {
  const auto player = [&](int place) { return players_[std::size_t(place)]; };
  for (int place = int(players_.size()) - 1; place >= 0; --place) {
    double& clock = clocks[std::size_t(player(place))];
    for (int child : below(place)) {
      const double both = std::max(clock, clocks[std::size_t(player(child))]);
      clock = both + ways_.hop(player(child), player(place)).seconds(bytes);
    }
  }
}

void Tree::broadcast(double bytes, std::span<double> clocks) const {
  const auto player = [&](int place) { return players_[std::size_t(place)]; };
  for (int place = 0; place < int(players_.size()); ++place) {
    const std::vector<int>& children = below(place);
    double& clock = clocks[std::size_t(player(place))];
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      clock += ways_.hop(player(place), player(*child)).seconds(bytes);
      double& theirs = clocks[std::size_t(player(*child))];
      theirs = std::max(theirs, clock);
    }
  }
}

}  // namespace parajoule::simulate
