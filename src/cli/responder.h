#pragma once

// A small HTTP responder: one page, for machines that come by every few seconds.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::cli {

/// Where to listen.
struct Address {
  std::string host;  ///< `127.0.0.1`, `::1`
  std::uint16_t port;
};

/// Of `127.0.0.1:9109`, `[::1]:9109` or `localhost:9109`. Throws Error{usage} for anything else.
Address address_in(std::string_view text);

/// The whole answer to the head of a request, or to as much of it as is ever read. `page` is made
/// for GET /metrics alone.
std::string answer_to(std::string_view request, const std::function<std::string()>& page);

/// Answers everybody who is there side by side: nobody waits for one who is slow, and of those who
/// only hold a connection the longest waiting make room.
class Responder {
 public:
  /// Throws Error{environment} if nobody can listen there.
  Responder(const Address& address, std::function<std::string()> page);
  ~Responder();
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  /// `127.0.0.1:9109`: port 0 has become the one that the system chose.
  std::string where() const;

  /// To wait for with poll(): somebody is there.
  int file() const { return ready_; }

  /// For how many milliseconds poll() may wait: then somebody is to be let go. -1: nobody is here.
  int patience() const;

  /// Goes on with everybody who has something to say or room for an answer, and waits for nobody.
  /// Whoever takes longer than two seconds for a request, or for taking its answer, is let go.
  void answer();

 private:
  struct Client;
  void listen_at(const Address& address);
  void take_newcomers();
  bool make_room();
  bool go_on_with(Client& client);
  bool go_on_answering(Client& client);
  void wait_for(int file, std::uint32_t events, int operation) const;
  void let_go_who_is_late();

  int listening_ = -1;
  int ready_ = -1;
  std::function<std::string()> page_;
  std::map<int, Client> clients_;  ///< by the file of their connection
};

}  // namespace parajoule::cli
