#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "meter/amd_library.h"
#include "meter/shared_library.h"

namespace parajoule::meter {

namespace {

/// Room for whatever the library writes: more than twice the largest of the structures used.
struct alignas(16) Words : std::array<std::uint32_t, 128> {};

using Handle = void*;

/// Where amdsmi_power_info_t has its numbers, in words of 32 bits. Versions are those of
/// amdsmi_get_lib_version, whose first word was the year before it was the major version.
struct PowerLayout {
  std::uint32_t version;
  std::size_t current;
  std::size_t average;
  std::size_t limit;
};
constexpr PowerLayout layouts[] = {
    {24, 0, 1, 5},   // ROCm 6.1 to 6.3
    {25, 2, 3, 7},   // 6.4: `socket_power` of 64 bits came first
    {26, 2, 3, 10},  // 7: voltages of 64 bits
};

const PowerLayout* layout_of(std::uint32_t version) {
  for (const PowerLayout& layout : layouts)
    if (layout.version == version) return &layout;
  return nullptr;
}

class AmdSmi final : public AmdLibrary {
 public:
  static OpenedAmd open(const std::string& name);
  AmdSmi(SharedLibrary library, std::string title, const PowerLayout& layout)
      : library_(std::move(library)), title_(std::move(title)), layout_(layout) {
    find_gpus();
  }
  ~AmdSmi() override { library_.call("amdsmi_shut_down"); }

  std::string title() const override { return title_; }
  unsigned count() const override { return unsigned(gpus_.size()); }
  Answer ask(unsigned gpu, AmdNumber number) const override;
  std::optional<std::uint64_t> pci_address(unsigned gpu) const override;

 private:
  void find_gpus();
  template <class... Arguments>
  std::optional<std::string> failed(const char* name, Arguments... arguments) const;
  Answer energy(Handle gpu) const;
  Answer power(Handle gpu, std::size_t word) const;
  Answer power_limit(Handle gpu) const;
  Answer temperature(Handle gpu) const;
  Answer clock(Handle gpu, int type) const;
  Answer busy(Handle gpu) const;
  Answer memory(Handle gpu) const;

  SharedLibrary library_;
  std::string title_;
  PowerLayout layout_;
  std::vector<Handle> gpus_;
};

std::optional<std::string> problem(const SharedLibrary& library, const char* name,
                                   const std::variant<int, std::string>& result) {
  return amd_problem(library, {"AMD SMI", "amdsmi_status_code_to_string"}, name, result);
}

OpenedAmd AmdSmi::open(const std::string& name) {
  auto loaded = SharedLibrary::open(amd_names(name, {26, 25, 24}));
  if (auto* why = std::get_if<std::string>(&loaded)) return std::move(*why);
  SharedLibrary& library = std::get<SharedLibrary>(loaded);
  constexpr std::uint64_t gpus = 1 << 1;  // AMDSMI_INIT_AMD_GPUS
  if (auto why = problem(library, "amdsmi_init", library.call("amdsmi_init", gpus)))
    return std::move(*why);
  Words version{};
  const auto answered = library.call("amdsmi_get_lib_version", static_cast<void*>(version.data()));
  const auto why = problem(library, "amdsmi_get_lib_version", answered);
  const PowerLayout* layout = why ? nullptr : layout_of(version[0]);
  if (!layout) {
    library.call("amdsmi_shut_down");
    return why.value_or(
        fmt::format("AMD SMI of version {}.{} lays out its answers in a way that is not known here",
                    version[0], version[1]));
  }
  return std::make_shared<const AmdSmi>(
      std::move(library), fmt::format("AMD SMI {}.{}", version[0], version[1]), *layout);
}

void AmdSmi::find_gpus() {
  constexpr int of_a_gpu = 1;  // AMDSMI_PROCESSOR_TYPE_AMD_GPU
  std::uint32_t sockets = 0;
  if (failed("amdsmi_get_socket_handles", &sockets, static_cast<Handle*>(nullptr))) return;
  std::vector<Handle> socket(sockets);
  if (failed("amdsmi_get_socket_handles", &sockets, socket.data())) return;
  socket.resize(std::min<std::size_t>(socket.size(), sockets));
  for (Handle one : socket) {
    std::uint32_t count = 0;
    if (failed("amdsmi_get_processor_handles", one, &count, static_cast<Handle*>(nullptr)))
      continue;
    std::vector<Handle> found(count);
    if (failed("amdsmi_get_processor_handles", one, &count, found.data())) continue;
    found.resize(std::min<std::size_t>(found.size(), count));
    for (Handle gpu : found) {
      int type = 0;
      if (!failed("amdsmi_get_processor_type", gpu, &type) && type == of_a_gpu)
        gpus_.push_back(gpu);
    }
  }
}

template <class... Arguments>
std::optional<std::string> AmdSmi::failed(const char* name, Arguments... arguments) const {
  return problem(library_, name, library_.call(name, arguments...));
}

Answer AmdSmi::ask(unsigned gpu, AmdNumber number) const {
  const Handle handle = gpus_.at(gpu);
  switch (number) {
    case AmdNumber::energy:
      return energy(handle);
    case AmdNumber::current_power:
      return power(handle, layout_.current);
    case AmdNumber::average_power:
      return power(handle, layout_.average);
    case AmdNumber::power_limit:
      return power_limit(handle);
    case AmdNumber::temperature:
      return temperature(handle);
    case AmdNumber::clock:
      return clock(handle, 0);  // AMDSMI_CLK_TYPE_GFX
    case AmdNumber::memory_clock:
      return clock(handle, 4);  // AMDSMI_CLK_TYPE_MEM
    case AmdNumber::busy:
      return busy(handle);
    case AmdNumber::memory:
      break;
  }
  return memory(handle);
}

std::optional<std::uint64_t> AmdSmi::pci_address(unsigned gpu) const {
  std::uint64_t address = 0;
  if (failed("amdsmi_get_gpu_bdf_id", gpus_.at(gpu), &address)) return {};
  return address;
}

Answer AmdSmi::energy(Handle gpu) const {
  std::uint64_t count = 0, timestamp = 0;
  float resolution = 0;
  if (auto why = failed("amdsmi_get_energy_count", gpu, &count, &resolution, &timestamp))
    return std::move(*why);
  return amd_energy(count, resolution);
}

Answer AmdSmi::power(Handle gpu, std::size_t word) const {
  Words info{};
  if (auto why = failed("amdsmi_get_power_info", gpu, static_cast<void*>(info.data())))
    return std::move(*why);
  return amd_watts(info[word]);
}

/// In watts by one version and in microwatts by another.
Answer AmdSmi::power_limit(Handle gpu) const {
  Words info{};
  if (auto why = failed("amdsmi_get_power_info", gpu, static_cast<void*>(info.data())))
    return std::move(*why);
  const std::uint32_t limit = info[layout_.limit];
  return limit >= 1'000'000 && limit != ~0U ? amd_watts(limit / 1'000'000) : amd_watts(limit);
}

Answer AmdSmi::temperature(Handle gpu) const {
  std::string why;
  for (int sensor : {0, 1}) {  // of the edge; of the hottest spot, which MI300 has alone
    std::int64_t degrees = 0;
    auto failure = failed("amdsmi_get_temp_metric", gpu, sensor, 0, &degrees);
    if (!failure && degrees > 0 && degrees < 200) return double(degrees);
    why = failure.value_or(fmt::format("{} degrees", degrees));
  }
  return why;
}

Answer AmdSmi::clock(Handle gpu, int type) const {
  Words info{};  // amdsmi_clk_info_t: the clock now comes first, in MHz
  if (auto why = failed("amdsmi_get_clock_info", gpu, type, static_cast<void*>(info.data())))
    return std::move(*why);
  if (info[0] >= 0xffff) return "not available";
  return double(info[0]) * 1e6;
}

Answer AmdSmi::busy(Handle gpu) const {
  Words usage{};  // amdsmi_engine_usage_t: of the shaders first, in percent
  if (auto why = failed("amdsmi_get_gpu_activity", gpu, static_cast<void*>(usage.data())))
    return std::move(*why);
  if (usage[0] > 100) return "not available";
  return double(usage[0]) / 100;
}

Answer AmdSmi::memory(Handle gpu) const {
  std::uint64_t used = 0;
  if (auto why = failed("amdsmi_get_gpu_memory_usage", gpu, 0, &used)) return std::move(*why);
  return double(used);
}

}  // namespace

OpenedAmd open_amd_smi(const std::string& name) { return AmdSmi::open(name); }

}  // namespace parajoule::meter
