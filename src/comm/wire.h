#pragma once

// What carries notes and values between ranks that share no memory.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/note.h"

namespace parajoule::comm {

/// The way to ranks of other nodes. Nothing moves on between calls.
class Wire {
 public:
  /// Values under way.
  class Load {
   public:
    virtual ~Load() = default;
    virtual bool done() = 0;  ///< pushes on, does not wait
  };

  virtual ~Wire() = default;

  /// Never waits. Notes from one rank to another arrive in their order.
  virtual void post(int to, const Note& note) = 0;
  /// Appends what has arrived.
  virtual void collect(std::vector<Note>& into) = 0;

  /// Values of the message that a note with this number announces; any length.
  virtual std::unique_ptr<Load> send(int to, std::uint64_t number,
                                     std::span<const std::byte> values) = 0;
  virtual std::unique_ptr<Load> receive(int from, std::uint64_t number,
                                        std::span<std::byte> values) = 0;

  /// Whether values are under way: then it has to be asked often, since it moves nothing by itself.
  virtual bool carrying() const = 0;

  /// Tells all ranks of other nodes, without waiting.
  virtual void fail(const Failure& failure) noexcept = 0;
  virtual std::optional<Failure> failure() const = 0;
};

}  // namespace parajoule::comm
