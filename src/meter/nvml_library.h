#pragma once

// NVIDIA's management library, loaded when the program runs: what we use of it, under its own
// names.

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/quantity.h"

namespace parajoule::meter {

/// The library's words for what went wrong, `Not Supported`, with its number.
struct NvmlFailure {
  int code;
  std::string text;
  static constexpr int not_supported = 3;
  static constexpr int missing = -1;  ///< the library, or the function in it
};

template <class T>
using NvmlAnswer = std::variant<T, NvmlFailure>;

/// Generations of GPUs as the library counts them (nvmlDeviceArchitecture_t).
enum class NvmlArchitecture : unsigned { volta = 5, turing = 6, ampere = 7, ada = 8, hopper = 9 };

using NvmlDevice = void*;

/// One use of the library. The library counts its uses, so each source has one of its own.
class NvmlLibrary {
 public:
  /// Loads and initialises it; a failure says why that was not possible.
  static NvmlAnswer<NvmlLibrary> open(const std::string& name);
  NvmlLibrary(NvmlLibrary&& other) noexcept;
  NvmlLibrary& operator=(NvmlLibrary&&) = delete;
  ~NvmlLibrary();

  NvmlAnswer<unsigned> count() const;
  NvmlAnswer<NvmlDevice> device(unsigned index) const;
  std::string driver() const;  ///< its version; "unknown"
  NvmlAnswer<std::string> name(NvmlDevice device) const;
  NvmlAnswer<std::string> uuid(NvmlDevice device) const;   ///< of a GPU or a MIG instance
  std::vector<NvmlDevice> parts(NvmlDevice device) const;  ///< its MIG instances
  std::optional<NvmlArchitecture> architecture(NvmlDevice device) const;
  std::optional<base::Watts> power_limit(NvmlDevice device) const;

  NvmlAnswer<base::Joules> energy(NvmlDevice device) const;        ///< since the driver was loaded
  NvmlAnswer<base::Watts> power(NvmlDevice device) const;          ///< nvmlDeviceGetPowerUsage
  NvmlAnswer<base::Watts> instant_power(NvmlDevice device) const;  ///< NVML_FI_DEV_POWER_INSTANT

 private:
  explicit NvmlLibrary(void* handle) : handle_(handle) {}
  template <class Function>
  Function* find(const char* name) const;
  template <class... Arguments>
  std::optional<NvmlFailure> call(const char* name, Arguments... arguments) const;
  NvmlFailure failure(int code) const;

  void* handle_;
  bool initialised_ = false;
};

}  // namespace parajoule::meter
