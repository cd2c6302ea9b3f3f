#pragma once

// What computes underneath: for the record, and to keep it on its own cores.

#include <string>

namespace parajoule::nn {

struct Backend {
  std::string torch;   ///< version of libtorch: "1.13.1"
  std::string blas;    ///< "OpenBLAS 0.3.21", or "unknown"
  std::string kernel;  ///< processor whose BLAS kernels run: "Haswell", or "unknown"
  std::string onednn;  ///< version of oneDNN, or "none"
  int threads = 1;     ///< of one operation
};

Backend backend();

/// Lets each operation of libtorch and BLAS run on so many threads. Called once, at the start.
void use_threads(int threads);

}  // namespace parajoule::nn
