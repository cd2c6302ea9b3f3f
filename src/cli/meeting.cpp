#include "cli/meeting.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>

namespace parajoule::cli {
namespace {

std::string broadcast(comm::Communicator& world, int root, std::string text) {
  text.resize(std::size_t(world.sum(world.rank() == root ? double(text.size()) : 0)));
  const std::span letters(reinterpret_cast<std::byte*>(text.data()), text.size());
  world.broadcast(base::Vector(letters), root);
  return text;
}

/// A number of 52 bits, which a double holds exactly.
double fingerprint(const std::string& text) { return double(std::hash<std::string>{}(text) >> 12); }

}  // namespace

Refused::Refused(int rank, const Cause& cause)
    : base::Error(cause.fault,
                  rank == 0 ? cause.text : fmt::format("rank {}: {}", rank, cause.text)),
      rank(rank) {}

void together(comm::Communicator& world, const std::function<void()>& act) {
  std::optional<Cause> own;
  try {
    act();
  } catch (...) {
    own = cause_of(std::current_exception());
  }
  const int first = int(world.minimum(own ? world.rank() : world.size()));
  if (first == world.size()) return;
  const double fault = world.sum(world.rank() == first ? double(own->fault) : 0);
  throw Refused(
      first, {base::Fault(int(fault)), broadcast(world, first, own ? own->text : std::string())});
}

std::string from_first(comm::Communicator& world, const std::string& text) {
  return broadcast(world, 0, world.rank() == 0 ? text : std::string());
}

int ranks_with(comm::Communicator& world, const std::string& text) {
  std::vector<double> prints(std::size_t(world.size()));
  prints[std::size_t(world.rank())] = fingerprint(text);
  world.sum(base::Vector(std::span(prints)));
  return int(std::ranges::count(prints, fingerprint(text)));
}

}  // namespace parajoule::cli
