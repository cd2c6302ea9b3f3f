#pragma once

// Who may ask a management controller or an outlet: a file that nobody else may read.

#include <filesystem>
#include <string>
#include <string_view>

#include "meter/http.h"

namespace parajoule::meter {

/// Out of lines `user = NAME`, `password = WORD`, `certificate = FILE`; blank lines and lines that
/// begin with # are passed over. Throws Error{input} if the file's mode is not 0600 or it is not
/// this user's, if it cannot be read, or for a line of another kind.
HttpAccess read_credentials(const std::filesystem::path& file);

/// The same of its text; `file` stands in errors, and a relative certificate lies beside it.
HttpAccess credentials_in(std::string_view text, const std::filesystem::path& file);

/// As whom to ask over SNMP: of version 2c by a community, of version 3 as a user.
struct SnmpAccess {
  std::string community = {};  ///< version 2c, which sends it in the open
  std::string user = {};       ///< version 3
  std::string password = {};
  std::string authentication = "SHA";
  std::string privacy = "AES";
  std::string privacy_password = {};  ///< empty: `password`
};

/// Out of lines `community = WORD`, or `user = NAME`, `password = WORD` and, if they differ,
/// `authentication = SHA-256`, `privacy = AES`, `privacy_password = WORD`. Throws as
/// `read_credentials`.
SnmpAccess read_snmp_access(const std::filesystem::path& file);
SnmpAccess snmp_access_in(std::string_view text, const std::filesystem::path& file);

}  // namespace parajoule::meter
