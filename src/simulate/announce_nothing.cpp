#include "simulate/announce.h"

namespace parajoule::simulate {

std::size_t stack_bytes() { return std::size_t(64) << 10; }
void announce_new(Announced&) {}
void announce_gone(Announced&) {}
void announce_thread(Announced&) {}
void announce_leaving(Announced&, const Announced&, bool) {}
void announce_arrived(Announced&, Announced&) {}
void announce_abandoning(bool) {}

}  // namespace parajoule::simulate
