#include "comm/options.h"

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::comm {

void check(const Options& options) {
  if (options.ranks_per_node && *options.ranks_per_node < 1) {
    throw base::Error(base::Fault::usage,
                      fmt::format("ranks_per_node is at least 1, not {}", *options.ranks_per_node));
  }
  if (options.stall <= base::Seconds(0) || options.give_up <= base::Seconds(0)) {
    throw base::Error(base::Fault::usage,
                      fmt::format("stall_seconds and give_up_seconds are above 0, not {} and {}",
                                  options.stall.count(), options.give_up.count()));
  }
}

}  // namespace parajoule::comm
