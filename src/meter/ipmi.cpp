#include "meter/ipmi.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <linux/ipmi.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace parajoule::meter {

namespace {

constexpr std::chrono::seconds patience{5};

Failure failure() { return {errno, std::strerror(errno)}; }

class IpmiDevice final : public IpmiTransport {
 public:
  explicit IpmiDevice(int descriptor) : descriptor_(descriptor) {}
  ~IpmiDevice() override { ::close(descriptor_); }
  IpmiDevice(const IpmiDevice&) = delete;
  IpmiDevice& operator=(const IpmiDevice&) = delete;

  std::variant<std::vector<std::uint8_t>, Failure> ask(
      std::uint8_t net_function, std::uint8_t command, std::span<const std::uint8_t> data,
      const std::function<bool()>& stopped) override {
    std::vector<std::uint8_t> copy(data.begin(), data.end());
    ipmi_system_interface_addr controller{};
    controller.addr_type = IPMI_SYSTEM_INTERFACE_ADDR_TYPE;
    controller.channel = IPMI_BMC_CHANNEL;
    ipmi_req question{};
    question.addr = reinterpret_cast<unsigned char*>(&controller);
    question.addr_len = sizeof controller;
    question.msgid = ++number_;
    question.msg = {net_function, command, std::uint16_t(copy.size()), copy.data()};
    if (::ioctl(descriptor_, IPMICTL_SEND_COMMAND, &question) != 0) return failure();
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!stopped() && std::chrono::steady_clock::now() < until) {
      pollfd waiting{descriptor_, POLLIN, 0};
      constexpr int milliseconds = 50;
      if (::poll(&waiting, 1, milliseconds) < 0 && errno != EINTR) return failure();
      if (!(waiting.revents & POLLIN)) continue;
      if (auto answer = receive()) return *answer;
    }
    return Failure{ETIMEDOUT, "the management controller does not answer"};
  }

 private:
  /// The answer to the last question; none if it is one to an earlier question.
  std::optional<std::variant<std::vector<std::uint8_t>, Failure>> receive() {
    std::array<std::uint8_t, IPMI_MAX_MSG_LENGTH> bytes{};
    ipmi_addr from{};
    ipmi_recv answer{};
    answer.addr = reinterpret_cast<unsigned char*>(&from);
    answer.addr_len = sizeof from;
    answer.msg.data = bytes.data();
    answer.msg.data_len = bytes.size();
    if (::ioctl(descriptor_, IPMICTL_RECEIVE_MSG_TRUNC, &answer) != 0) return failure();
    if (answer.msgid != number_) return {};
    return std::vector<std::uint8_t>(bytes.begin(), bytes.begin() + answer.msg.data_len);
  }

  int descriptor_;
  long number_ = 0;
};

}  // namespace

OpenedIpmi open_ipmi(const std::filesystem::path& device) {
  const int descriptor = ::open(device.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return failure();
  return std::make_unique<IpmiDevice>(descriptor);
}

}  // namespace parajoule::meter
