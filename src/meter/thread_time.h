#pragma once

#include <time.h>

#include "base/quantity.h"

namespace parajoule::meter {

/// Processor time of the calling thread: what metering costs.
inline base::Seconds thread_cpu_time() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return base::Seconds(double(time.tv_sec) + 1e-9 * double(time.tv_nsec));
}

}  // namespace parajoule::meter
