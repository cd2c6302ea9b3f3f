#pragma once

// The memory of a rank that the other ranks of its node see.

#include <cstddef>
#include <filesystem>
#include <memory>

namespace parajoule::comm {

/// A mapping, much larger than what will be used of it: pages come when they are backed. Zero at
/// first.
class Segment {
 public:
  /// Of ranks that are threads of this process.
  static std::shared_ptr<Segment> in_process(std::size_t bytes);
  /// A new file, this process's own; `folder` is shared memory (/dev/shm). The file's lock says
  /// that its owner lives.
  static std::shared_ptr<Segment> create(const std::filesystem::path& file, std::size_t bytes);
  /// That of another process. Null if there is no such file.
  static std::shared_ptr<Segment> open(const std::filesystem::path& file);

  ~Segment();
  Segment(const Segment&) = delete;

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }

  /// Makes sure of the memory before anyone touches it. Throws Error{environment} that names what
  /// is wanted, what there is, and the way out; touching memory that is not there would kill.
  void back(std::size_t from, std::size_t to);

  /// Whether the process that created the file is still there.
  bool owner_lives() const;

 private:
  Segment(std::filesystem::path file, int descriptor, std::size_t bytes);

  std::filesystem::path file_;  ///< empty: in process
  int descriptor_;              ///< -1 in process
  std::byte* begin_ = nullptr;
  std::size_t bytes_;
};

/// How large a segment is mapped: more than a rank can use. `ranks` share a machine.
std::size_t segment_bytes(int ranks);

/// As much of `bytes` as the limit of this process's addresses (ulimit -v) leaves to each of
/// `ranks` that it maps: a quarter of the limit for all of them, as programs and libraries take
/// addresses too.
std::size_t within_limit(std::size_t bytes, int ranks);
/// The same for a limit of `limit` bytes.
std::size_t within(std::size_t limit, std::size_t bytes, int ranks);

}  // namespace parajoule::comm
