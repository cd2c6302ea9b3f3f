#include <array>
#include <utility>

#include <fmt/format.h>

#include "meter/amd_library.h"
#include "meter/shared_library.h"

namespace parajoule::meter {

namespace {

/// All that is asked here are plain numbers, which no version has laid out otherwise.
class RocmSmi final : public AmdLibrary {
 public:
  static OpenedAmd open(const std::string& name);
  RocmSmi(SharedLibrary library, std::string title, unsigned count)
      : library_(std::move(library)), title_(std::move(title)), count_(count) {}
  ~RocmSmi() override { library_.call("rsmi_shut_down"); }

  std::string title() const override { return title_; }
  unsigned count() const override { return count_; }
  Answer ask(unsigned gpu, AmdNumber number) const override;
  std::optional<std::uint64_t> pci_address(unsigned gpu) const override;

 private:
  template <class... Arguments>
  std::optional<std::string> failed(const char* name, Arguments... arguments) const;
  template <class... Arguments>
  Answer microwatts(const char* name, unsigned gpu, Arguments... arguments) const;
  Answer energy(unsigned gpu) const;
  Answer temperature(unsigned gpu) const;
  Answer busy(unsigned gpu) const;
  Answer memory(unsigned gpu) const;

  SharedLibrary library_;
  std::string title_;
  unsigned count_;
};

std::optional<std::string> problem(const SharedLibrary& library, const char* name,
                                   const std::variant<int, std::string>& result) {
  return amd_problem(library, {"ROCm SMI", "rsmi_status_string"}, name, result);
}

OpenedAmd RocmSmi::open(const std::string& name) {
  auto loaded = SharedLibrary::open(amd_names(name, {7, 6, 5, 1}));
  if (auto* why = std::get_if<std::string>(&loaded)) return std::move(*why);
  SharedLibrary& library = std::get<SharedLibrary>(loaded);
  constexpr std::uint64_t discrete_gpus = 0;
  if (auto why = problem(library, "rsmi_init", library.call("rsmi_init", discrete_gpus)))
    return std::move(*why);
  std::array<std::uint32_t, 64> version{};  // rsmi_version_t
  library.call("rsmi_version_get", static_cast<void*>(version.data()));
  std::uint32_t count = 0;
  const auto counted = library.call("rsmi_num_monitor_devices", &count);
  if (auto why = problem(library, "rsmi_num_monitor_devices", counted)) {
    library.call("rsmi_shut_down");
    return std::move(*why);
  }
  return std::make_shared<const RocmSmi>(
      std::move(library), fmt::format("ROCm SMI {}.{}", version[0], version[1]), count);
}

template <class... Arguments>
std::optional<std::string> RocmSmi::failed(const char* name, Arguments... arguments) const {
  return problem(library_, name, library_.call(name, arguments...));
}

Answer RocmSmi::ask(unsigned gpu, AmdNumber number) const {
  constexpr std::uint32_t first_sensor = 0;
  switch (number) {
    case AmdNumber::energy:
      return energy(gpu);
    case AmdNumber::current_power:
      return microwatts("rsmi_dev_current_socket_power_get", gpu);
    case AmdNumber::average_power:
      return microwatts("rsmi_dev_power_ave_get", gpu, first_sensor);
    case AmdNumber::power_limit:
      return microwatts("rsmi_dev_power_cap_get", gpu, first_sensor);
    case AmdNumber::temperature:
      return temperature(gpu);
    case AmdNumber::busy:
      return busy(gpu);
    case AmdNumber::memory:
      return memory(gpu);
    case AmdNumber::clock:
    case AmdNumber::memory_clock:
      break;
  }
  return "not asked of ROCm SMI: its list of clocks changed between versions";
}

std::optional<std::uint64_t> RocmSmi::pci_address(unsigned gpu) const {
  std::uint64_t address = 0;
  if (failed("rsmi_dev_pci_id_get", gpu, &address)) return {};
  return address;
}

template <class... Arguments>
Answer RocmSmi::microwatts(const char* name, unsigned gpu, Arguments... arguments) const {
  std::uint64_t power = 0;
  if (auto why = failed(name, gpu, arguments..., &power)) return std::move(*why);
  if (power >= 0xffff'000'000ULL) return "not available";
  return double(power) * 1e-6;
}

Answer RocmSmi::energy(unsigned gpu) const {
  std::uint64_t count = 0, timestamp = 0;
  float resolution = 0;
  if (auto why = failed("rsmi_dev_energy_count_get", gpu, &count, &resolution, &timestamp))
    return std::move(*why);
  return amd_energy(count, resolution);
}

Answer RocmSmi::temperature(unsigned gpu) const {
  std::string why;
  for (std::uint32_t sensor : {0U, 1U}) {  // of the edge; of the hottest spot
    std::int64_t millidegrees = 0;
    auto failure = failed("rsmi_dev_temp_metric_get", gpu, sensor, 0, &millidegrees);
    if (!failure && millidegrees > 0 && millidegrees < 200'000) return double(millidegrees) * 1e-3;
    why = failure.value_or(fmt::format("{} thousandths of a degree", millidegrees));
  }
  return why;
}

Answer RocmSmi::busy(unsigned gpu) const {
  std::uint32_t percent = 0;
  if (auto why = failed("rsmi_dev_busy_percent_get", gpu, &percent)) return std::move(*why);
  if (percent > 100) return "not available";
  return double(percent) / 100;
}

Answer RocmSmi::memory(unsigned gpu) const {
  std::uint64_t used = 0;
  if (auto why = failed("rsmi_dev_memory_usage_get", gpu, 0, &used)) return std::move(*why);
  return double(used);
}

}  // namespace

OpenedAmd open_rocm_smi(const std::string& name) { return RocmSmi::open(name); }

}  // namespace parajoule::meter
