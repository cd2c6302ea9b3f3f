#pragma once

// Who may ask a management controller: a file that nobody else may read.

#include <filesystem>
#include <string_view>

#include "meter/http.h"

namespace parajoule::meter {

/// Out of lines `user = NAME`, `password = WORD`, `certificate = FILE`; blank lines and lines that
/// begin with # are passed over. Throws Error{input} if the file's mode is not 0600 or it is not
/// this user's, if it cannot be read, or for a line of another kind.
HttpAccess read_credentials(const std::filesystem::path& file);

/// The same of its text; `file` stands in errors, and a relative certificate lies beside it.
HttpAccess credentials_in(std::string_view text, const std::filesystem::path& file);

}  // namespace parajoule::meter
