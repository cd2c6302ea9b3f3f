#pragma once

// AMD's management libraries, loaded when the program runs: what we use of them, in one set of
// words. AMD SMI is the younger; ROCm SMI is what older clusters have.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "meter/asked.h"
#include "meter/shared_library.h"

namespace parajoule::meter {

/// What can be asked of a GPU, in joules, watts, degrees Celsius, hertz, bytes, and shares of 1.
enum class AmdNumber {
  energy,
  current_power,  ///< of the moment; MI300 and later
  average_power,  ///< MI200 and before, Radeon
  power_limit,
  temperature,
  clock,
  memory_clock,
  busy,
  memory,
};

class AmdLibrary {
 public:
  virtual ~AmdLibrary() = default;
  virtual std::string title() const = 0;  ///< `AMD SMI 24.6`
  virtual unsigned count() const = 0;
  virtual Answer ask(unsigned gpu, AmdNumber number) const = 0;
  /// Domain from bit 32, bus from bit 8, device from bit 3, function.
  virtual std::optional<std::uint64_t> pci_address(unsigned gpu) const = 0;
};

/// The library, or why it cannot be used: it is missing, there is no driver, or it lays out its
/// answers in a way that is not known here, as it has done four times.
using OpenedAmd = std::variant<std::shared_ptr<const AmdLibrary>, std::string>;
OpenedAmd open_amd_smi(const std::string& name);
OpenedAmd open_rocm_smi(const std::string& name);

/// How a library calls itself, and its function that puts a code into words.
struct AmdWords {
  std::string_view library;
  const char* words_of;
};

/// Nothing if the call `name` went well; else `rsmi_init: not permitted (ROCm SMI 4)`, or that the
/// library has no such call.
std::optional<std::string> amd_problem(const SharedLibrary& library, const AmdWords& words,
                                       const char* name,
                                       const std::variant<int, std::string>& result);

/// Joules of an energy counter and its resolution in microjoules, which the call itself gives.
Answer amd_energy(std::uint64_t count, float resolution);

/// Watts; all ones of 16 or 32 bits stand for none.
Answer amd_watts(std::uint32_t watts);

/// Where a library is looked for: by its name, in ROCm's own folder, and, for it may be installed
/// without the link that programs are built with, by the numbers it has had. A path is looked for
/// alone.
std::vector<std::string> amd_names(const std::string& name, std::initializer_list<int> numbers);

}  // namespace parajoule::meter
