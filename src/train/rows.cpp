#include "train/rows.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace parajoule::train {
namespace {

using nlohmann::json;

template <class T>
json maybe(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, base::Seconds>) {
    return value->count();
  } else if constexpr (requires { value->value; }) {
    return value->value;
  } else {
    return *value;
  }
}

template <class T>
std::optional<T> perhaps(const json& value) {
  if (value.is_null()) return std::nullopt;
  if constexpr (std::is_same_v<T, base::Seconds>) {
    return base::Seconds(value.get<double>());
  } else if constexpr (requires(T quantity) { quantity.value; }) {
    return T{value.get<double>()};
  } else {
    return value.get<T>();
  }
}

json packed(const store::Node& row) {
  return {row.node, row.boot_id, row.host, row.cpus, row.memory_bytes};
}
json packed(const store::Source& row) {
  return {row.source,
          row.node,
          row.device,
          row.device_kind,
          int(row.quantity),
          row.unit,
          int(row.label),
          row.covers,
          maybe(row.part_of),
          maybe(row.resolution),
          maybe(row.update_period),
          maybe(row.window),
          maybe(row.bias_relative),
          maybe(row.formula)};
}
json packed(const store::Reading& row) {
  return {row.source, row.seconds.count(), maybe(row.value), maybe(row.gap)};
}
json packed(const store::Phase& row) {
  return {row.rank, row.name, row.begin.count(), row.end.count()};
}
json packed(const store::Step& row) {
  return {row.rank, row.step,       row.seconds.count(), row.samples,
          row.loss, row.sent_bytes, row.waited.count()};
}
json packed(const store::Note& row) {
  return {row.seconds.count(), maybe(row.rank), int(row.severity), row.text};
}
json packed(const store::Setting& row) { return {row.key, row.value, row.origin}; }
json packed(const Drawing& row) {
  return {row.node, maybe(row.energy.measured_energy), maybe(row.energy.modelled_energy),
          maybe(row.energy.measured_power), maybe(row.energy.modelled_power)};
}

void unpack(const json& from, store::Node& row) {
  row = {from[0], from[1], from[2], from[3], from[4]};
}
void unpack(const json& from, store::Source& row) {
  row = {.source = from[0],
         .node = from[1],
         .device = from[2],
         .device_kind = from[3],
         .quantity = store::Quantity(from[4].get<int>()),
         .unit = from[5],
         .label = store::Label(from[6].get<int>()),
         .covers = from[7],
         .part_of = perhaps<std::string>(from[8]),
         .resolution = perhaps<double>(from[9]),
         .update_period = perhaps<base::Seconds>(from[10]),
         .window = perhaps<base::Seconds>(from[11]),
         .bias_relative = perhaps<double>(from[12]),
         .formula = perhaps<std::string>(from[13])};
}
void unpack(const json& from, store::Reading& row) {
  row = {from[0], base::Seconds(from[1].get<double>()), perhaps<double>(from[2]),
         perhaps<std::string>(from[3])};
}
void unpack(const json& from, store::Phase& row) {
  row = {from[0], from[1], base::Seconds(from[2].get<double>()),
         base::Seconds(from[3].get<double>())};
}
void unpack(const json& from, store::Step& row) {
  row = {from[0], from[1], base::Seconds(from[2].get<double>()), from[3],
         from[4], from[5], base::Seconds(from[6].get<double>())};
}
void unpack(const json& from, store::Note& row) {
  row = {base::Seconds(from[0].get<double>()), perhaps<int>(from[1]),
         store::Severity(from[2].get<int>()), from[3]};
}
void unpack(const json& from, store::Setting& row) { row = {from[0], from[1], from[2]}; }
void unpack(const json& from, Drawing& row) {
  row = {.node = from[0],
         .energy = {.measured_energy = perhaps<base::Joules>(from[1]),
                    .modelled_energy = perhaps<base::Joules>(from[2]),
                    .measured_power = perhaps<base::Watts>(from[3]),
                    .modelled_power = perhaps<base::Watts>(from[4])}};
}

template <class Row>
json packed(const std::vector<Row>& rows) {
  json all = json::array();
  for (const Row& row : rows) all.push_back(packed(row));
  return all;
}

template <class Row>
void unpack(const json& from, std::vector<Row>& rows) {
  rows.resize(from.size());
  for (std::size_t i = 0; i < rows.size(); ++i) unpack(from[i], rows[i]);
}

}  // namespace

bool Rows::empty() const { return *this == Rows{}; }

// CBOR keeps doubles that are no numbers, which JSON text does not.
std::vector<std::uint8_t> encoded(const Rows& rows) {
  return json::to_cbor(json::array({packed(rows.nodes), packed(rows.sources), packed(rows.readings),
                                    packed(rows.phases), packed(rows.steps), packed(rows.notes),
                                    packed(rows.settings), packed(rows.drawings)}));
}

Rows decoded(const std::vector<std::uint8_t>& bytes) {
  const json all = json::from_cbor(bytes);
  Rows rows;
  unpack(all[0], rows.nodes);
  unpack(all[1], rows.sources);
  unpack(all[2], rows.readings);
  unpack(all[3], rows.phases);
  unpack(all[4], rows.steps);
  unpack(all[5], rows.notes);
  unpack(all[6], rows.settings);
  unpack(all[7], rows.drawings);
  return rows;
}

namespace {
base::Vector bytes_of(std::vector<std::uint8_t>& bytes) {
  return {bytes.data(), bytes.size(), base::Element::byte};
}
}  // namespace

void RowStream::move(base::Seconds now) {
  if (group_.rank() == 0) {
    if (!waiting_.empty()) sink_(std::exchange(waiting_, {}));
    while (const auto message = group_.arrived(comm::Communicator::anyone, tag)) take(*message);
    return;
  }
  if (now - sent_ < between || waiting_.empty() || !sending_.done()) return;
  sent_ = now;
  send();
}

void RowStream::send() {
  sending_.wait();
  outgoing_ = encoded(std::exchange(waiting_, {}));
  sending_ = group_.start_send(bytes_of(outgoing_), 0, tag);
}

void RowStream::take(comm::Communicator::Arrived message) {
  std::vector<std::uint8_t> bytes(message.bytes);
  group_.receive(bytes_of(bytes), message.from, tag);
  if (bytes.size() == 1) {
    ++marks_[std::size_t(message.from)];
  } else {
    sink_(decoded(bytes));
  }
}

void RowStream::drain() {
  if (group_.rank() == 0) {
    if (!waiting_.empty()) sink_(std::exchange(waiting_, {}));
    // Messages of a rank keep their order, so its mark of one byte is its last.
    for (int rank = 1; rank < group_.size(); ++rank) {
      int& marks = marks_[std::size_t(rank)];
      while (marks == 0) take(group_.await(comm::Communicator::anyone, tag));
      --marks;
    }
    return;
  }
  if (!waiting_.empty()) send();
  sending_.wait();
  outgoing_.assign(1, 0);
  group_.send(bytes_of(outgoing_), 0, tag);
}

}  // namespace parajoule::train
