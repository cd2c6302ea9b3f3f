#pragma once

// parajoule data: the data sets, checked and rewritten.

#include <optional>
#include <string>
#include <vector>

namespace parajoule::cli {

struct DataWords {
  std::string name;                   ///< of the data set
  std::vector<std::string> set = {};  ///< key=value, its options
  std::string folder = {};            ///< where to write
  std::optional<long> samples = {};   ///< of each part, at most
  int quality = 95;                   ///< of JPEGs
};

/// The table of data sets, or one with its options.
std::string shown_data_sets(const std::string& name);

/// Decodes every sample. Prints what is bad; gives the exit status: 2 if something is.
int check_data(const DataWords& words);

/// Writes training and validation pictures as folders of JPEGs.
int prepare_data(const DataWords& words);

}  // namespace parajoule::cli
