#pragma once

// IDX, the format of MNIST and its kin: a magic number, the extent of each dimension, the values,
// all big-endian, plain or gzipped. (Y. LeCun, "The MNIST database of handwritten digits".)

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/stored.h"

namespace parajoule::data {

/// One IDX file of unsigned bytes.
struct IdxArray {
  std::vector<std::int64_t> shape = {};   ///< first the number of samples
  std::vector<std::uint8_t> values = {};  ///< row by row
};

/// Throws Error{input} that names the file and what is wrong with it. Memory follows what the file
/// holds, not what its header claims.
IdxArray read_idx(const std::filesystem::path& path);

/// The pictures (N,H,W) or (N,C,H,W) of one file with the labels (N) of another. Throws
/// Error{input} if the two do not belong together, or a label has no name.
Stored::Content read_idx_pair(const std::filesystem::path& pictures,
                              const std::filesystem::path& labels,
                              std::vector<std::string> class_names);

/// `folder`/`name`.gz, or the same without .gz.
std::filesystem::path idx_file(const std::filesystem::path& folder, const std::string& name);

}  // namespace parajoule::data
