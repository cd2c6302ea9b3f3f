#pragma once

// Questions to a node's management controller, and its answers, as bytes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "meter/kernel_file.h"

namespace parajoule::meter {

class IpmiTransport {
 public:
  virtual ~IpmiTransport() = default;

  /// The controller's answer, its completion code in front. Takes milliseconds to seconds; gives up
  /// when `stopped` says so.
  virtual std::variant<std::vector<std::uint8_t>, Failure> ask(
      std::uint8_t net_function, std::uint8_t command, std::span<const std::uint8_t> data,
      const std::function<bool()>& stopped) = 0;
};

using OpenedIpmi = std::variant<std::unique_ptr<IpmiTransport>, Failure>;
using IpmiOpener = std::function<OpenedIpmi(const std::filesystem::path& device)>;

/// The kernel's device, `/dev/ipmi0`.
OpenedIpmi open_ipmi(const std::filesystem::path& device);

}  // namespace parajoule::meter
