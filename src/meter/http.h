#pragma once

// Questions over HTTP, by libcurl, loaded when the program runs.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/quantity.h"

namespace parajoule::meter {

/// Whom to ask, and as whom.
struct HttpAccess {
  std::string user = {};
  std::string password = {};
  std::optional<std::filesystem::path> certificate =
      {};  ///< of the server or of who vouches for it
};

struct HttpAnswer {
  long status;  ///< 200: well
  std::string body;
};

/// The library with one connection, which is kept between questions. Used from one thread at a
/// time.
class Http {
 public:
  /// A text says why the library cannot be used.
  static std::variant<std::unique_ptr<Http>, std::string> open(const std::string& library,
                                                               HttpAccess access);
  virtual ~Http() = default;

  /// Asks for an address; a text says why no answer came. Certificates are always verified, no
  /// redirection is followed, no proxy is asked, and answers of more than 1 MiB are refused. Gives
  /// up after `patience`, or within a second of `stopped` saying so.
  virtual std::variant<HttpAnswer, std::string> get(const std::string& address,
                                                    base::Seconds patience,
                                                    const std::function<bool()>& stopped) = 0;
};

}  // namespace parajoule::meter
