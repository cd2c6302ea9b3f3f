#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

#include "simulate/announce.h"

namespace parajoule::simulate {

std::size_t stack_bytes() { return std::size_t(512) << 10; }
void announce_new(Announced&) {}
void announce_gone(Announced&) {}
void announce_thread(Announced&) {}

void announce_leaving(Announced& from, const Announced& to, bool for_good) {
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.frames, to.bottom, to.bytes);
}

void announce_arrived(Announced& at, Announced& from) {
  // Of the thread's own stack only the sanitizer knows the bounds.
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(at.frames, &bottom, &bytes);
  from.bottom = bottom;
  from.bytes = bytes;
}

void announce_abandoning(bool may_be) {
  if (may_be)
    __lsan_disable();
  else
    __lsan_enable();
}

}  // namespace parajoule::simulate
