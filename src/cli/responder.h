#pragma once

// A small HTTP responder: one page, for machines that come by every few seconds.

#include <cstdint>
#include <functional>
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

/// The whole answer to the head of a request. `page` is made for GET /metrics alone.
std::string answer_to(std::string_view request, const std::function<std::string()>& page);

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
  int file() const { return listening_; }

  /// Answers who is there. Whoever takes longer than two seconds for a request is let go.
  void answer();

 private:
  int listening_ = -1;
  std::function<std::string()> page_;
};

}  // namespace parajoule::cli
