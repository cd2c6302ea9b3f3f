#include "train/checkpoint_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

using base::Element;
using base::Error;
using base::Fault;

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");
// Numbers in files: the order of this list is a promise.
static_assert(int(Element::float32) == 0 && int(Element::float64) == 1 &&
              int(Element::float16) == 2 && int(Element::bfloat16) == 3 &&
              int(Element::int64) == 4 && int(Element::byte) == 5);
constexpr std::uint8_t last_element = 5;

// Begins with a byte that is no text and holds both line ends, as PNG's does: a transfer that
// mends line ends is found out.
constexpr std::string_view magic = "\x89PJC\r\n\x1a\n";
constexpr std::uint32_t version = 1;
constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t end_bytes = sizeof(std::uint32_t);  // the checksum of all before

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + alignment - 1) / alignment * alignment;
}

class Encoder {
 public:
  template <class Number>
  void number(Number value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void text(std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  std::vector<std::byte> take() { return std::move(bytes_); }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class Decoder {
 public:
  Decoder(std::string_view name, std::span<const std::byte> bytes) : name_(name), bytes_(bytes) {}

  template <class Number>
  Number number() {
    Number value{};
    std::memcpy(&value, next(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text(std::size_t size) {
    const auto bytes = next(size);
    return {reinterpret_cast<const char*>(bytes.data()), size};
  }
  void require(bool holds, std::string_view what) const {
    if (holds) return;
    throw Error(Fault::input, fmt::format("{} is damaged: {}", name_, what));
  }
  bool done() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> next(std::size_t size) {
    require(size <= bytes_.size(), "its table ends too early");
    return std::exchange(bytes_, bytes_.subspan(size)).first(size);
  }

  std::string_view name_;
  std::span<const std::byte> bytes_;
};

/// Names stand in errors of one line.
bool in_one_line(std::string_view name) {
  return std::ranges::none_of(name, [](unsigned char letter) { return letter < ' '; });
}

void encode(const Slot& slot, Encoder& to) {
  base::ensure(slot.name.size() <= std::numeric_limits<std::uint16_t>::max() &&
                   slot.shape.size() <= std::numeric_limits<std::uint8_t>::max() &&
                   in_one_line(slot.name),
               "names and shapes of an archive are short");
  to.number(std::uint16_t(slot.name.size()));
  to.text(slot.name);
  to.number(std::uint8_t(slot.element));
  to.number(std::uint8_t(slot.shape.size()));
  for (std::int64_t extent : slot.shape) to.number(extent);
  to.number(slot.offset);
  to.number(slot.bytes);
  to.number(slot.checksum);
}

/// None if a number below zero is among them or the product passes what a file can hold.
std::optional<std::uint64_t> bytes_of(Element element, std::span<const std::int64_t> shape) {
  std::uint64_t bytes = base::bytes_of(element);
  for (std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, std::uint64_t(extent), &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

Slot decode_slot(Decoder& from) {
  Slot slot;
  slot.name = from.text(from.number<std::uint16_t>());
  from.require(in_one_line(slot.name), "the name of an entry is no text");
  const auto element = from.number<std::uint8_t>();
  from.require(element <= last_element, fmt::format("'{}' is of no known type", slot.name));
  slot.element = Element(element);
  slot.shape.resize(from.number<std::uint8_t>());
  for (std::int64_t& extent : slot.shape) extent = from.number<std::int64_t>();
  slot.offset = from.number<std::uint64_t>();
  slot.bytes = from.number<std::uint64_t>();
  slot.checksum = from.number<std::uint32_t>();
  from.require(bytes_of(slot.element, slot.shape) == slot.bytes,
               fmt::format("shape and length of '{}' differ", slot.name));
  return slot;
}

/// What a file that is not ours seems to be.
std::string_view kind_of(std::string_view front) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"PK\x03\x04"sv, "a Python state_dict (zip)"},
      {"\x80\x02"sv, "a Python pickle"},
      {"\x89HDF"sv, "an HDF5 file"},
      {"SQLite format 3"sv, "an SQLite file, perhaps a run record"},
      {"\x1f\x8b"sv, "a gzip file"},
      {"\x28\xb5\x2f\xfd"sv, "a zstd file"},
      {"\x89PJC\n"sv, "a checkpoint whose line ends were changed by a text-mode transfer"},
  };
  for (const auto& [begin, kind] : known) {
    if (front.starts_with(begin)) return kind;
  }
  return front.find_first_not_of('\0') == front.npos ? "all zeros" : "something else";
}

void require_ours(std::string_view name, std::string_view front) {
  if (front.substr(0, magic.size()) == magic) return;
  if (front.size() < magic.size() && magic.starts_with(front)) {
    throw Error(Fault::input, fmt::format("{} is cut short ({} bytes)", name, front.size()));
  }
  throw Error(Fault::input,
              fmt::format("{} is {}, not a checkpoint of ours", name, kind_of(front)));
}

}  // namespace

std::uint32_t checksum_of(std::span<const std::byte> bytes, std::uint32_t checksum) {
  if (bytes.empty()) return checksum;  // zlib would begin anew for a null pointer
  return std::uint32_t(
      crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::uint64_t bytes) {
  return std::uint32_t(crc32_combine(first, second, z_off_t(bytes)));
}

Table Table::of(const base::Archive& archive) {
  Table table;
  std::uint64_t front = Header::bytes;
  for (const auto& [name, entry] : archive.entries()) {
    table.slots.push_back({.name = name,
                           .element = entry.element,
                           .shape = entry.shape,
                           .bytes = entry.bytes.size(),
                           .checksum = checksum_of(entry.bytes)});
    Encoder measure;
    encode(table.slots.back(), measure);
    front += measure.bytes().size();
  }
  table.file_bytes = front;
  for (Slot& slot : table.slots) {
    slot.offset = aligned(table.file_bytes);
    table.file_bytes = slot.offset + slot.bytes;
  }
  table.file_bytes += end_bytes;
  return table;
}

std::vector<std::byte> Table::encoded() const {
  Encoder rows;
  for (const Slot& slot : slots) encode(slot, rows);
  Encoder front;
  front.text(magic);
  front.number(version);
  front.number(std::uint32_t(slots.size()));
  front.number(file_bytes);
  front.number(std::uint64_t(rows.bytes().size()));
  front.number(checksum_of(rows.bytes()));
  front.number(checksum_of(front.bytes()));
  std::vector<std::byte> all = front.take();
  all.insert(all.end(), rows.bytes().begin(), rows.bytes().end());
  return all;
}

Header decode_header(std::string_view name, std::span<const std::byte> front,
                     std::uint64_t file_bytes) {
  require_ours(name, {reinterpret_cast<const char*>(front.data()), front.size()});
  if (front.size() < Header::bytes) {
    throw Error(Fault::input, fmt::format("{} is cut short ({} bytes)", name, file_bytes));
  }
  Decoder from(name, front.first(Header::bytes));
  from.text(magic.size());
  const auto of_version = from.number<std::uint32_t>();
  Header header;
  header.entries = from.number<std::uint32_t>();
  header.file_bytes = from.number<std::uint64_t>();
  header.table_bytes = from.number<std::uint64_t>();
  header.table_checksum = from.number<std::uint32_t>();
  const auto own = checksum_of(front.first(Header::bytes - sizeof(std::uint32_t)));
  from.require(from.number<std::uint32_t>() == own, "the checksum of its header is wrong");
  if (of_version != version) {
    throw Error(Fault::input, fmt::format("{} is of version {}; this program reads version {}: "
                                          "use the one that wrote it",
                                          name, of_version, version));
  }
  if (file_bytes < header.file_bytes) {
    throw Error(Fault::input, fmt::format("{} is cut short ({} -> {} bytes)", name,
                                          header.file_bytes, file_bytes));
  }
  from.require(
      file_bytes == header.file_bytes,
      fmt::format("it is longer than it was ({} -> {} bytes)", header.file_bytes, file_bytes));
  from.require(header.file_bytes >= Header::bytes + end_bytes &&
                   header.table_bytes <= header.file_bytes - Header::bytes - end_bytes,
               "its table is longer than the file");
  return header;
}

Table decode_table(std::string_view name, const Header& header, std::span<const std::byte> bytes) {
  Decoder from(name, bytes);
  from.require(checksum_of(bytes) == header.table_checksum, "the checksum of its table is wrong");
  Table table{.file_bytes = header.file_bytes, .slots = {}};
  std::uint64_t end = Header::bytes + header.table_bytes;
  for (std::uint32_t entry = 0; entry < header.entries; ++entry) {
    Slot slot = decode_slot(from);
    from.require(table.slots.empty() || table.slots.back().name < slot.name,
                 "its entries are out of order");
    from.require(slot.offset == aligned(end) && slot.offset <= header.file_bytes - end_bytes &&
                     slot.bytes <= header.file_bytes - end_bytes - slot.offset,
                 fmt::format("'{}' lies outside of the file", slot.name));
    end = slot.offset + slot.bytes;
    table.slots.push_back(std::move(slot));
  }
  from.require(from.done(), "its table is longer than its entries");
  from.require(end == header.file_bytes - end_bytes, "there are bytes that belong to no entry");
  return table;
}

}  // namespace parajoule::train
