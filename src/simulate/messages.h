#pragma once

// Messages from rank to rank in virtual time: matching sends with receives.

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "simulate/kernel.h"
#include "simulate/links.h"
#include "simulate/seal.h"

namespace parajoule::simulate {

/// As in the worlds that really run (comm/messages.h): up to Note::room bytes leave when they are
/// sent and are kept where they arrive; longer values stay where they are until someone receives
/// them, and only then is their sender done. Messages of one rank with one key are received in the
/// order in which they were sent.
class Messages {
 public:
  struct Key {
    std::uint64_t context = 0;  ///< the group
    std::int32_t tag = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Arrived {
    int from;
    std::size_t bytes;
  };

  Messages(Kernel& kernel, Links& links);
  ~Messages();

  /// Ranks are those of the world; the caller is the rank that runs.
  std::unique_ptr<comm::Pending::Transfer> send(Key key, int to, base::Vector values);
  /// `from` is one rank, or several of which any will do.
  std::unique_ptr<comm::Pending::Transfer> receive(Key key, std::vector<int> from,
                                                   base::Vector values);
  /// The first message that has arrived and not been received.
  std::optional<Arrived> arrived(Key key, const std::vector<int>& from);
  Arrived await(Key key, const std::vector<int>& from);

 private:
  struct Message;
  struct Receive;
  struct Box;
  class SendTransfer;
  class ReceiveTransfer;
  class Arrival;

  Box& box(int rank, Key key);
  std::optional<Arrived> look(Key key, const std::vector<int>& from);
  void announce(const std::shared_ptr<Message>& message);
  void match(const std::shared_ptr<Message>& message, const std::shared_ptr<Receive>& receive);
  void move(const std::shared_ptr<Message>& message);
  void landed(Message& message);

  Kernel& kernel_;
  Links& links_;
  std::vector<std::map<Key, std::unique_ptr<Box>>> boxes_;  ///< of each rank
};

}  // namespace parajoule::simulate
