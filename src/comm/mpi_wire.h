#pragma once

// Notes and values between nodes by MPI messages. Part of `comm_mpi`.

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <mpi.h>

#include "comm/wire.h"

namespace parajoule::comm {

/// Every call of MPI passes through here: throws Error{environment} that names the call and what
/// MPI says about it.
void mpi(int code, const char* call);

/// All calls come from one thread. Only what does not wait is called, since a call of Open MPI that
/// waits burns its core.
class MpiWire final : public Wire {
 public:
  /// `others` are the ranks of other nodes. A communicator of its own keeps its messages apart.
  MpiWire(MPI_Comm world, std::vector<int> others);
  /// Leaves MPI as it is unless closed.
  ~MpiWire() override;

  void post(int to, const Note& note) override;
  void collect(std::vector<Note>& into) override;
  std::unique_ptr<Load> send(int to, std::uint64_t number,
                             std::span<const std::byte> values) override;
  std::unique_ptr<Load> receive(int from, std::uint64_t number,
                                std::span<std::byte> values) override;
  bool carrying() const override { return loads_ > 0; }
  void fail(const Failure& failure) noexcept override;
  std::optional<Failure> failure() const override { return failure_; }

  /// Waits until what was posted has gone, and takes no more.
  void close();

 private:
  class Parts;
  struct News {  ///< a failure, of fixed size
    std::int32_t rank = 0;
    std::array<char, 508> what = {};
  };
  struct Outgoing {
    Note note;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  bool all_sent();
  int tag_of(std::uint64_t number) const;

  MPI_Comm messages_ = MPI_COMM_NULL;
  int largest_tag_ = 0;
  std::vector<int> others_;
  Note incoming_;
  MPI_Request receiving_ = MPI_REQUEST_NULL;
  News news_;
  News own_news_;
  MPI_Request hearing_ = MPI_REQUEST_NULL;
  std::optional<Failure> failure_;
  int loads_ = 0;                  ///< values under way
  std::deque<Outgoing> outgoing_;  ///< a deque, since what is being sent stays where it is
};

}  // namespace parajoule::comm
