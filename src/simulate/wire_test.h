#pragma once

// A wire for tests, and when ranks on it are through.

#include <functional>
#include <vector>

#include "simulate/world.h"

namespace parajoule::simulate {

inline constexpr double latency = 1e-5;
inline constexpr double bandwidth = 1e9;
inline const Link wire{.latency = base::Seconds(latency), .bytes_per_second = bandwidth};

/// When each rank is through; rank r comes at `came[r]`.
inline std::vector<double> times(const Options& options, const std::vector<double>& came,
                                 const std::function<void(comm::Communicator&)>& body) {
  World world(int(came.size()), options);
  world.run([&](comm::Communicator& group) {
    world.spend(base::Seconds(came[std::size_t(group.rank())]));
    body(group);
  });
  std::vector<double> times;
  for (const Account& account : world.accounts()) times.push_back(account.finished.count());
  return times;
}

}  // namespace parajoule::simulate
