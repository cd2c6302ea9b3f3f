#pragma once

// The table a training run ends with, and `parajoule runs show` shows again.

#include <filesystem>
#include <string>
#include <string_view>

#include "cli/run_account.h"
#include "cli/table.h"
#include "store/reader.h"

namespace parajoule::cli {

/// At most 100 columns wide. `show_again`: the command that prints it once more.
std::string summary_text(const RunAccount& account, std::string_view show_again, Look look);

/// As one word in a table: `running?` for a run on another machine.
std::string_view word_for(store::Standing standing);

/// The command that shows the record `file`, whose run is `id`: by its id if the record lies in
/// `folder`, where the command looks by itself, else by its path.
std::string show_command(const std::filesystem::path& file, std::string_view id,
                         const std::filesystem::path& folder);

}  // namespace parajoule::cli
