#pragma once

// The experiment file with every key explained, and the page docs/experiment.md: both from the
// tables of keys and choices.

#include <string>

#include "base/settings.h"
#include "cli/keys.h"
#include "train/experiment.h"

namespace parajoule::cli {

/// Reads back as an experiment with every key at its fallback.
std::string example(const Vocabulary& vocabulary);

/// Markdown.
std::string page(const Vocabulary& vocabulary);

/// What holds for an experiment, a line a setting: `key = value  # origin`.
std::string shown_settings(const train::Experiment& experiment);

/// An option as lines of an experiment file: its help as a comment, then `name = value`.
std::string explained(const base::Option& option);

}  // namespace parajoule::cli
