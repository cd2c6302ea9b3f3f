#include <sanitizer/tsan_interface.h>

#include "simulate/announce.h"

namespace parajoule::simulate {

std::size_t stack_bytes() { return std::size_t(512) << 10; }
void announce_new(Announced& fiber) { fiber.context = __tsan_create_fiber(0); }
void announce_gone(Announced& fiber) { __tsan_destroy_fiber(fiber.context); }
void announce_thread(Announced& own) { own.context = __tsan_get_current_fiber(); }
void announce_leaving(Announced&, const Announced& to, bool) {
  __tsan_switch_to_fiber(to.context, 0);
}
void announce_arrived(Announced&, Announced&) {}
void announce_abandoning(bool) {}

}  // namespace parajoule::simulate
