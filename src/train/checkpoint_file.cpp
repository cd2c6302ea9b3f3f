#include "train/checkpoint_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "train/checkpoint_table.h"

namespace parajoule::train {
namespace {

namespace fs = std::filesystem;
using base::Archive;
using base::Error;
using base::Fault;

/// An open file or folder. Throws std::system_error.
class File {
 public:
  File(const fs::path& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
    require(descriptor_ >= 0);
  }
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size() const {
    struct stat status {};
    require(::fstat(descriptor_, &status) == 0);
    return std::uint64_t(status.st_size);
  }

  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      require(count >= 0 || errno == EINTR);
      if (count > 0) bytes = bytes.subspan(std::size_t(count));
    }
  }

  /// How many bytes came: fewer than asked for only at the end of the file.
  std::size_t read(std::span<std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::read(descriptor_, bytes.data() + done, bytes.size() - done);
      require(count >= 0 || errno == EINTR);
      if (count == 0) break;
      if (count > 0) done += std::size_t(count);
    }
    return done;
  }

  void sync() { require(::fsync(descriptor_) == 0); }

  /// Lets what is read back come from the disk, not from the memory it was written from.
  void forget() { ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_DONTNEED); }

  /// Some file systems report a failed write only here.
  void close() { require(::close(std::exchange(descriptor_, -1)) == 0); }

 private:
  static void require(bool holds) {
    if (!holds) throw std::system_error(errno, std::generic_category());
  }

  int descriptor_;
};

/// A file that is gone at the end of its scope unless it was renamed.
class Temporary {
 public:
  explicit Temporary(fs::path path) : path_(std::move(path)) {}
  ~Temporary() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  const fs::path& path() const { return path_; }
  void rename(const fs::path& to) {
    fs::rename(path_, to);
    path_.clear();
  }

 private:
  fs::path path_;
};

/// Goes through a file from its front to its end and checks every byte.
class Reading {
 public:
  explicit Reading(const fs::path& path) : name_(path.string()), file_(path, O_RDONLY) {}

  /// Gives each entry to `visit` with a function that must be called to read its bytes.
  template <class Visit>
  Written all(Visit visit) {
    const Table table = front();
    for (const Slot& slot : table.slots) {
      skip(slot.offset - position_);
      entry_ = 0;
      visit(slot);
      whole_ = joined_checksum(whole_, entry_, slot.bytes);
      require(entry_ == slot.checksum, fmt::format("the checksum of '{}' is wrong", slot.name));
    }
    std::uint32_t end = 0;
    take(std::as_writable_bytes(std::span(&end, 1)));
    require(end == whole_, "the checksum of the whole file is wrong");
    return {table.file_bytes, end};
  }

  /// The next bytes of the entry that is being visited.
  void next(std::span<std::byte> bytes) {
    take(bytes);
    entry_ = checksum_of(bytes, entry_);
  }

 private:
  Table front() {
    std::array<std::byte, Header::bytes> bytes;
    const std::size_t count = file_.read(bytes);
    const Header header = decode_header(name_, std::span(bytes).first(count), file_.size());
    std::vector<std::byte> rows(header.table_bytes);
    take(rows);
    position_ = Header::bytes + rows.size();
    whole_ = checksum_of(rows, checksum_of(bytes));
    return decode_table(name_, header, rows);
  }

  void skip(std::uint64_t count) {
    std::vector<std::byte> gap(count);
    take(gap);
    whole_ = checksum_of(gap, whole_);
  }

  void take(std::span<std::byte> bytes) {
    require(file_.read(bytes) == bytes.size(), "it ends too early");
    position_ += bytes.size();
  }

  void require(bool holds, std::string_view what) const {
    if (!holds) throw Error(Fault::input, fmt::format("{} is damaged: {}", name_, what));
  }

  std::string name_;
  File file_;
  std::uint64_t position_ = 0;
  std::uint32_t whole_ = 0;
  std::uint32_t entry_ = 0;
};

/// Writes it all and returns when it is on disk.
Written write_all(const fs::path& path, const Archive& archive, const Table& table) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  const std::vector<std::byte> front = table.encoded();
  file.write(front);
  std::uint32_t whole = checksum_of(front);
  std::uint64_t position = front.size();
  for (const Slot& slot : table.slots) {
    const std::vector<std::byte> gap(slot.offset - position);
    file.write(gap);
    file.write(archive.entries().at(slot.name).bytes);
    whole = joined_checksum(checksum_of(gap, whole), slot.checksum, slot.bytes);
    position = slot.offset + slot.bytes;
  }
  file.write(std::as_bytes(std::span(&whole, 1)));
  file.sync();
  file.forget();
  file.close();
  return {table.file_bytes, whole};
}

bool reads_back(const fs::path& path, const Written& written) {
  try {
    return verify_archive(path) == written;
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void cannot_write(const fs::path& path, std::uint64_t bytes,
                               const std::system_error& failure) {
  std::error_code unknown;
  const fs::space_info space = fs::space(path.parent_path(), unknown);
  const std::string free = unknown ? "" : fmt::format("; {} bytes are free there", space.available);
  throw Error(Fault::environment,
              fmt::format("cannot write the checkpoint {} ({} bytes): {}{}; make room, or name "
                          "another folder with the key `checkpoints`",
                          path.string(), bytes, failure.code().message(), free));
}

[[noreturn]] void cannot_read(const fs::path& path, const std::system_error& failure) {
  const bool missing = failure.code() == std::errc::no_such_file_or_directory;
  throw Error(missing ? Fault::input : Fault::environment,
              fmt::format("cannot read {}: {}", path.string(), failure.code().message()));
}

}  // namespace

Written write_archive(const fs::path& file, const Archive& archive) {
  const Table table = Table::of(archive);
  Temporary temporary(file.string() + ".part");
  try {
    const Written written = write_all(temporary.path(), archive, table);
    if (!reads_back(temporary.path(), written)) {
      throw Error(Fault::environment,
                  fmt::format("{} reads back differently than it was written: the disk or the "
                              "memory of this machine fails",
                              temporary.path().string()));
    }
    temporary.rename(file);
    File(file.has_parent_path() ? file.parent_path() : ".", O_RDONLY | O_DIRECTORY).sync();
    return written;
  } catch (const std::system_error& failure) {
    cannot_write(file, table.file_bytes, failure);
  }
}

Archive read_archive(const fs::path& file) {
  try {
    Archive archive;
    Reading reading(file);
    reading.all([&](const Slot& slot) {
      Archive::Entry entry{slot.element, slot.shape, std::vector<std::byte>(slot.bytes)};
      reading.next(entry.bytes);
      archive.entries().emplace(slot.name, std::move(entry));
    });
    return archive;
  } catch (const std::system_error& failure) {
    cannot_read(file, failure);
  }
}

Written verify_archive(const fs::path& file) {
  try {
    Reading reading(file);
    std::vector<std::byte> piece(std::size_t(1) << 20);
    return reading.all([&](const Slot& slot) {
      for (std::uint64_t left = slot.bytes; left > 0;) {
        const std::size_t count = std::min<std::uint64_t>(left, piece.size());
        reading.next(std::span(piece).first(count));
        left -= count;
      }
    });
  } catch (const std::system_error& failure) {
    cannot_read(file, failure);
  }
}

}  // namespace parajoule::train
