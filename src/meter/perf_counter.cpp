#include "meter/perf_counter.h"

#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace parajoule::meter {

namespace {

class SystemCounter final : public PerfCounter {
 public:
  explicit SystemCounter(int descriptor) : descriptor_(descriptor) {}
  ~SystemCounter() override { ::close(descriptor_); }
  SystemCounter(const SystemCounter&) = delete;
  SystemCounter& operator=(const SystemCounter&) = delete;

  std::variant<std::uint64_t, Failure> count() override {
    std::uint64_t count = 0;
    const ssize_t bytes = ::read(descriptor_, &count, sizeof count);
    if (bytes == ssize_t(sizeof count)) return count;
    // At the end of an event's life, its processor switched off, the kernel gives nothing.
    return bytes < 0 ? Failure{errno, std::strerror(errno)} : Failure{0, "the counter has ended"};
  }

 private:
  int descriptor_;
};

}  // namespace

OpenedPerfCounter open_perf_counter(const PerfEvent& event) {
  perf_event_attr attributes{};
  attributes.type = event.type;
  attributes.size = sizeof attributes;
  attributes.config = event.config;
  constexpr int all_processes = -1, no_group = -1;
  const long descriptor = ::syscall(SYS_perf_event_open, &attributes, all_processes,
                                    event.processor, no_group, PERF_FLAG_FD_CLOEXEC);
  if (descriptor < 0) return Failure{errno, std::strerror(errno)};
  return std::make_unique<SystemCounter>(int(descriptor));
}

}  // namespace parajoule::meter
