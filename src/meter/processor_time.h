#pragma once

// How busy some of a machine's processors are, from the kernel's ticks.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "meter/shared_file.h"

namespace parajoule::meter {

/// Ticks (of 10 ms) of some processors together, since the machine was started.
struct Ticks {
  double busy = 0;  ///< user, nice, system, interrupts; guests are within user
  double all = 0;   ///< the same, idle, waiting for input, and stolen by the host
};

/// The ticks of `processors` out of the text of /proc/stat. Processors that are not in it (switched
/// off) have none; a failure if it has none of them.
std::variant<Ticks, Failure> ticks_in(std::string_view stat, const std::vector<int>& processors);

/// The busy share from one reading to the next.
class Utilisation {
 public:
  Utilisation(std::shared_ptr<SharedFile> stat, std::vector<int> processors);

  /// 0 ... 1 since the last call that gave a number, or since construction. None if no tick has
  /// passed since.
  std::variant<std::optional<double>, Failure> read(base::Seconds now);

 private:
  std::shared_ptr<SharedFile> stat_;
  std::vector<int> processors_;
  std::optional<Ticks> last_;
};

}  // namespace parajoule::meter
