#include "comm/summands.h"

#include <utility>

namespace parajoule::comm {

base::Range part_of(std::size_t count, int parts, int index) {
  const auto begin = [&](int part) { return count * std::size_t(part) / std::size_t(parts); };
  return {begin(index), begin(index + 1)};
}

std::vector<std::byte> Spares::take(std::size_t bytes) {
  std::vector<std::byte> room;
  if (!rooms_.empty()) {
    room = std::move(rooms_.back());
    rooms_.pop_back();
  }
  if (room.size() < bytes) room.resize(bytes);
  return room;
}

Summands::~Summands() {
  if (!addend_.empty()) spares_.give_back(std::move(addend_));
  for (auto& wire : wires_) spares_.give_back(std::move(wire));
}

Pending Summands::send(base::Range part, int to) {
  if (part.size() == 0) return Pending();
  return group_.start_send(values_[part], to, tag_);
}

Pending Summands::receive(base::Range part, int from) {
  if (part.size() == 0) return Pending();
  return group_.start_receive(values_[part], from, tag_);
}

Pending Summands::receive_addend(base::Range part, int from) {
  if (part.size() == 0) return Pending();
  const std::size_t bytes = values_[part].bytes();
  if (!nowhere() && addend_.size() < bytes) {
    if (!addend_.empty()) spares_.give_back(std::move(addend_));
    addend_ = spares_.take(bytes);
  }
  return group_.start_receive(addend(part), from, tag_);
}

void Summands::add(base::Range part) {
  if (part.size() > 0) values_[part].add(addend(part));
}

/// Nowhere any vector of the same length is as good as another.
base::Vector Summands::addend(base::Range part) const {
  if (nowhere()) return values_[part];
  return base::Vector(const_cast<std::byte*>(addend_.data()), part.size(), values_.element());
}

Pending Summands::send_bytes(base::Vector bytes, int to) {
  if (bytes.empty()) return Pending();
  return group_.start_send(bytes, to, tag_);
}

Pending Summands::receive_bytes(base::Vector bytes, int from) {
  if (bytes.empty()) return Pending();
  return group_.start_receive(bytes, from, tag_);
}

base::Vector Summands::wire(std::size_t bytes) {
  if (nowhere()) return {nullptr, bytes, base::Element::byte, base::Place::nowhere};
  wires_.push_back(spares_.take(bytes));
  return {wires_.back().data(), bytes, base::Element::byte};
}

}  // namespace parajoule::comm
