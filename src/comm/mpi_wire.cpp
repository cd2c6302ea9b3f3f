#include "comm/mpi_wire.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

enum Tag { tag_of_notes, tag_of_failures, first_tag_of_values };

/// A count is an int in MPI 3: longer values go in pieces.
constexpr std::size_t longest_piece = std::size_t(1) << 30;

}  // namespace

void mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text = {};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw base::Error(
      base::Fault::environment,
      fmt::format("{}: {}", call, std::string_view(text.data(), std::size_t(length))));
}

/// Values under way, in pieces.
class MpiWire::Parts final : public Wire::Load {
 public:
  /// `begin` starts the transfer of one piece: offset, length.
  template <class Begin>
  Parts(int& loads, std::size_t bytes, Begin begin) : loads_(loads) {
    ++loads_;
    for (std::size_t offset = 0; offset < bytes; offset += longest_piece)
      requests_.push_back(begin(offset, int(std::min(longest_piece, bytes - offset))));
  }
  ~Parts() override { --loads_; }
  bool done() override {
    int all = 0;
    mpi(MPI_Testall(int(requests_.size()), requests_.data(), &all, MPI_STATUSES_IGNORE),
        "MPI_Testall");
    return all != 0;
  }

 private:
  int& loads_;
  std::vector<MPI_Request> requests_;
};

MpiWire::MpiWire(MPI_Comm world, std::vector<int> others) : others_(std::move(others)) {
  mpi(MPI_Comm_dup(world, &messages_), "MPI_Comm_dup");
  mpi(MPI_Comm_set_errhandler(messages_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int* largest = nullptr;
  int known = 0;
  mpi(MPI_Comm_get_attr(messages_, MPI_TAG_UB, static_cast<void*>(&largest), &known),
      "MPI_Comm_get_attr");
  largest_tag_ = known != 0 ? *largest : 32767;
  mpi(MPI_Irecv(&incoming_, sizeof(Note), MPI_BYTE, MPI_ANY_SOURCE, tag_of_notes, messages_,
                &receiving_),
      "MPI_Irecv");
  mpi(MPI_Irecv(&news_, sizeof(News), MPI_BYTE, MPI_ANY_SOURCE, tag_of_failures, messages_,
                &hearing_),
      "MPI_Irecv");
}

MpiWire::~MpiWire() = default;

void MpiWire::post(int to, const Note& note) {
  outgoing_.push_back({.note = note});
  Outgoing& last = outgoing_.back();
  mpi(MPI_Isend(&last.note, sizeof(Note), MPI_BYTE, to, tag_of_notes, messages_, &last.request),
      "MPI_Isend");
}

void MpiWire::collect(std::vector<Note>& into) {
  all_sent();
  for (;;) {
    int come = 0;
    mpi(MPI_Test(&receiving_, &come, MPI_STATUS_IGNORE), "MPI_Test");
    if (come == 0) break;
    into.push_back(incoming_);
    mpi(MPI_Irecv(&incoming_, sizeof(Note), MPI_BYTE, MPI_ANY_SOURCE, tag_of_notes, messages_,
                  &receiving_),
        "MPI_Irecv");
  }
  if (failure_) return;
  int heard = 0;
  mpi(MPI_Test(&hearing_, &heard, MPI_STATUS_IGNORE), "MPI_Test");
  if (heard != 0) failure_ = Failure{news_.rank, std::string(news_.what.data())};
}

std::unique_ptr<Wire::Load> MpiWire::send(int to, std::uint64_t number,
                                          std::span<const std::byte> values) {
  return std::make_unique<Parts>(loads_, values.size(), [&](std::size_t offset, int length) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi(MPI_Isend(values.data() + offset, length, MPI_BYTE, to, tag_of(number), messages_,
                  &request),
        "MPI_Isend");
    return request;
  });
}

std::unique_ptr<Wire::Load> MpiWire::receive(int from, std::uint64_t number,
                                             std::span<std::byte> values) {
  return std::make_unique<Parts>(loads_, values.size(), [&](std::size_t offset, int length) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi(MPI_Irecv(values.data() + offset, length, MPI_BYTE, from, tag_of(number), messages_,
                  &request),
        "MPI_Irecv");
    return request;
  });
}

int MpiWire::tag_of(std::uint64_t number) const {
  const auto tags = std::uint64_t(largest_tag_ - first_tag_of_values);
  return int(first_tag_of_values + number % tags);
}

bool MpiWire::all_sent() {
  while (!outgoing_.empty()) {
    int gone = 0;
    mpi(MPI_Test(&outgoing_.front().request, &gone, MPI_STATUS_IGNORE), "MPI_Test");
    if (gone == 0) return false;
    outgoing_.pop_front();
  }
  return true;
}

void MpiWire::fail(const Failure& failure) noexcept {
  // This rank is leaving: what goes wrong now is told by nobody, and the news is worth a moment.
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::milliseconds(200);
  own_news_.rank = failure.rank;
  std::copy_n(failure.what.data(), std::min(failure.what.size(), own_news_.what.size() - 1),
              own_news_.what.data());
  std::vector<MPI_Request> requests(others_.size(), MPI_REQUEST_NULL);
  for (std::size_t other = 0; other < others_.size(); ++other) {
    MPI_Isend(&own_news_, sizeof(News), MPI_BYTE, others_[other], tag_of_failures, messages_,
              &requests[other]);
  }
  int all = 0;
  while (all == 0 && Clock::now() < until) {
    if (MPI_Testall(int(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE) !=
        MPI_SUCCESS)
      return;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void MpiWire::close() {
  while (!all_sent()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  for (MPI_Request* request : {&receiving_, &hearing_}) {
    if (*request == MPI_REQUEST_NULL) continue;
    mpi(MPI_Cancel(request), "MPI_Cancel");
    mpi(MPI_Wait(request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
  mpi(MPI_Comm_free(&messages_), "MPI_Comm_free");
}

}  // namespace parajoule::comm
