#pragma once

// The devices of a measured command as rows of a file that many runs add to.

#include <string>
#include <string_view>

#include "measure/account.h"

namespace parajoule::cli {

/// The names of the columns, ended by a line feed.
std::string measure_csv_head();

/// One row for each source of energy or power. Quoted by RFC 4180; what is not a number is empty.
std::string measure_csv_rows(const measure::Account& account);

}  // namespace parajoule::cli
