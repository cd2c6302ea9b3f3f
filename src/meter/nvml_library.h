#pragma once

// NVIDIA's management library, loaded when the program runs: what we use of it, under its own
// names.

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "meter/nvml_field.h"

namespace parajoule::meter {

/// The library's words for what went wrong, `Not Supported`, with its number.
struct NvmlFailure {
  int code;
  std::string text;
  static constexpr int not_supported = 3;
  static constexpr int missing = -1;  ///< the library, or the function in it
  static constexpr int blank = -2;    ///< it went well, and there is no number
};

template <class T>
using NvmlAnswer = std::variant<T, NvmlFailure>;

/// Generations of GPUs as the library counts them (nvmlDeviceArchitecture_t).
enum class NvmlArchitecture : unsigned {
  kepler = 2,
  maxwell = 3,
  pascal = 4,
  volta = 5,
  turing = 6,
  ampere = 7,
  ada = 8,
  hopper = 9,
};

/// NVML_CLOCK_*.
enum class NvmlClock : unsigned { processors = 1, memory = 2 };

using NvmlDevice = void*;

/// One use of the library, which counts its uses: shared by the sources that it opened.
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

  NvmlAnswer<base::Joules> energy(NvmlDevice device) const;  ///< since the driver was loaded
  NvmlAnswer<base::Watts> power(NvmlDevice device) const;    ///< nvmlDeviceGetPowerUsage
  NvmlAnswer<base::Watts> power(NvmlDevice device, NvmlPower field, NvmlScope scope) const;

  NvmlAnswer<double> celsius(NvmlDevice device) const;
  NvmlAnswer<double> hertz(NvmlDevice device, NvmlClock clock) const;
  NvmlAnswer<double> busy(NvmlDevice device) const;          ///< share of time with a kernel
  NvmlAnswer<double> memory_bytes(NvmlDevice device) const;  ///< in use
  NvmlAnswer<double> throttling(NvmlDevice device) const;    ///< reasons, a bit each
  NvmlAnswer<double> processes(NvmlDevice device) const;     ///< that compute on it

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
