#include "exact/clock.h"

#include <chrono>
#include <thread>

namespace parajoule::exact {

Clock real_clock() {
  return {.now = [] { return base::Seconds(std::chrono::steady_clock::now().time_since_epoch()); },
          .spend =
              [](base::Seconds time) {
                if (time > base::Seconds(0)) std::this_thread::sleep_for(time);
              }};
}

}  // namespace parajoule::exact
