#pragma once

// What stands at the front of a checkpoint file: header and table. docs/checkpoint.md has the
// bytes. Values here, no files.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"

namespace parajoule::train {

/// CRC-32 as in zip, gzip and PNG, going on from `checksum`.
std::uint32_t checksum_of(std::span<const std::byte> bytes, std::uint32_t checksum = 0);

/// The checksum of two pieces one after the other, the second of `bytes` bytes.
std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::uint64_t bytes);

/// Where one entry of the archive lies in the file.
struct Slot {
  std::string name;
  base::Element element = base::Element::byte;
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
  bool operator==(const Slot&) const = default;
};

/// The whole file, but for the entries' bytes.
struct Table {
  std::uint64_t file_bytes = 0;
  std::vector<Slot> slots;  ///< in the order of their offsets, and of their names

  static Table of(const base::Archive& archive);

  /// Header and table: what the file begins with.
  std::vector<std::byte> encoded() const;

  bool operator==(const Table&) const = default;
};

/// The first bytes of a file, which say how long the table is.
struct Header {
  static constexpr std::size_t bytes = 40;
  std::uint64_t file_bytes = 0;
  std::uint64_t table_bytes = 0;
  std::uint32_t entries = 0;
  std::uint32_t table_checksum = 0;
};

/// Of a file of `file_bytes` bytes that begins with `front`: its first `Header::bytes` bytes, or
/// all it has. `name` stands in the errors. Throws Error{input}: cut short, damaged, of a newer
/// version, or not a checkpoint at all, and then what it seems to be.
Header decode_header(std::string_view name, std::span<const std::byte> front,
                     std::uint64_t file_bytes);

/// `bytes`: the `header.table_bytes` bytes after the header. Throws Error{input}; what it returns
/// fits into the file, entry after entry.
Table decode_table(std::string_view name, const Header& header, std::span<const std::byte> bytes);

}  // namespace parajoule::train
