#include "comm/note.h"

#include <string_view>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

using Kind = Collective::Kind;

std::string_view name(const Note& note) {
  return note.carried > 0 ? std::string_view() : std::string_view(note.payload.data());
}

bool same_call(const Note& a, const Note& b) {
  return a.call == b.call && a.element == b.element && a.count == b.count && a.tag == b.tag &&
         a.parts == b.parts && a.carried == b.carried && name(a) == name(b);
}

}  // namespace

std::string described(const Note& note) {
  std::string text = fmt::format("{} number {}", name_of(note.call), note.sequence);
  if (note.call == Kind::barrier) return text;
  text += fmt::format(" of {} {}", note.count, base::name_of(note.element));
  if (note.call == Kind::broadcast || note.call == Kind::reduce)
    text += fmt::format(" with root {}", note.tag);
  if (!name(note).empty()) text += fmt::format(" '{}'", name(note));
  return text;
}

void agree(const Note& own, const Note& other) {
  if (same_call(own, other)) return;
  throw base::Error(
      base::Fault::bug,
      fmt::format("ranks make different calls: rank {} {}, rank {} {}{}", own.from, described(own),
                  other.from, described(other), own.parts != other.parts ? " in other parts" : ""));
}

}  // namespace parajoule::comm
