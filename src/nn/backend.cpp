#include "nn/backend.h"

#include <dlfcn.h>

#include <torch/torch.h>
#include <torch/version.h>

namespace parajoule::nn {

namespace {

/// A function of the BLAS that libtorch was linked with; none if it is not OpenBLAS.
template <class Function>
Function* of_openblas(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// The word after `before` in what libtorch says of its parts.
std::string word_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return "none";
  const std::size_t begin = at + before.size();
  return text.substr(begin, text.find_first_of(" \n", begin) - begin);
}

}  // namespace

Backend backend() {
  Backend found = {.torch = TORCH_VERSION,
                   .blas = "unknown",
                   .kernel = "unknown",
                   .onednn = word_after(at::get_mkldnn_version(), "v"),
                   .threads = at::get_num_threads()};
  if (auto* const kernel = of_openblas<char*()>("openblas_get_corename")) found.kernel = kernel();
  if (auto* const config = of_openblas<char*()>("openblas_get_config")) {
    const std::string words = config();
    found.blas = words.substr(0, words.find(' ', words.find(' ') + 1));
  }
  return found;
}

void use_threads(int threads) {
  at::set_num_threads(threads);
  if (auto* const set = of_openblas<void(int)>("openblas_set_num_threads")) set(threads);
}

}  // namespace parajoule::nn
