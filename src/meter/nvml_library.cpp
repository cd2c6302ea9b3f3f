#include "meter/nvml_library.h"

#include <array>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace parajoule::meter {

using base::Joules;
using base::Watts;

namespace {

constexpr int success = 0;

NvmlFailure blank() { return {NvmlFailure::blank, "a blank value: not available"}; }

Watts from_milliwatts(unsigned milliwatts) { return {double(milliwatts) * 1e-3}; }

}  // namespace

template <class Function>
Function* NvmlLibrary::find(const char* name) const {
  return reinterpret_cast<Function*>(::dlsym(handle_, name));
}

/// Calls a function of the library; a failure if there is none of this name or it says so.
template <class... Arguments>
std::optional<NvmlFailure> NvmlLibrary::call(const char* name, Arguments... arguments) const {
  auto* function = find<int(Arguments...)>(name);
  if (!function) return NvmlFailure{NvmlFailure::missing, fmt::format("{} is missing", name)};
  const int code = function(arguments...);
  return code == success ? std::nullopt : std::optional(failure(code));
}

NvmlFailure NvmlLibrary::failure(int code) const {
  auto* words = find<const char*(int)>("nvmlErrorString");
  const char* text = words ? words(code) : nullptr;
  return {code, text ? fmt::format("{} (NVML {})", text, code) : fmt::format("NVML {}", code)};
}

NvmlAnswer<NvmlLibrary> NvmlLibrary::open(const std::string& name) {
  // Unloading a driver's library is asking for trouble, so it stays.
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* why = ::dlerror();
    return NvmlFailure{NvmlFailure::missing, why ? why : name + " cannot be loaded"};
  }
  NvmlLibrary library(handle);
  if (auto failed = library.call("nvmlInit_v2")) return *failed;
  library.initialised_ = true;
  return NvmlAnswer<NvmlLibrary>(std::move(library));
}

NvmlLibrary::NvmlLibrary(NvmlLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      initialised_(std::exchange(other.initialised_, false)) {}

NvmlLibrary::~NvmlLibrary() {
  if (initialised_) call("nvmlShutdown");
  if (handle_) ::dlclose(handle_);
}

NvmlAnswer<unsigned> NvmlLibrary::count() const {
  unsigned count = 0;
  if (auto failed = call("nvmlDeviceGetCount_v2", &count)) return *failed;
  return count;
}

NvmlAnswer<NvmlDevice> NvmlLibrary::device(unsigned index) const {
  NvmlDevice device = nullptr;
  if (auto failed = call("nvmlDeviceGetHandleByIndex_v2", index, &device)) return *failed;
  return device;
}

std::string NvmlLibrary::driver() const {
  std::array<char, 96> text{};
  const auto failed = call("nvmlSystemGetDriverVersion", text.data(), unsigned(text.size() - 1));
  return failed ? "unknown" : text.data();
}

NvmlAnswer<std::string> NvmlLibrary::name(NvmlDevice device) const {
  std::array<char, 97> text{};
  if (auto failed = call("nvmlDeviceGetName", device, text.data(), unsigned(text.size() - 1)))
    return *failed;
  return std::string(text.data());
}

NvmlAnswer<std::string> NvmlLibrary::uuid(NvmlDevice device) const {
  std::array<char, 97> text{};
  if (auto failed = call("nvmlDeviceGetUUID", device, text.data(), unsigned(text.size() - 1)))
    return *failed;
  return std::string(text.data());
}

std::vector<NvmlDevice> NvmlLibrary::parts(NvmlDevice device) const {
  unsigned most = 0;
  std::vector<NvmlDevice> parts;
  if (call("nvmlDeviceGetMaxMigDeviceCount", device, &most)) return parts;
  for (unsigned i = 0; i < most; ++i) {
    NvmlDevice part = nullptr;
    if (!call("nvmlDeviceGetMigDeviceHandleByIndex", device, i, &part)) parts.push_back(part);
  }
  return parts;
}

std::optional<NvmlArchitecture> NvmlLibrary::architecture(NvmlDevice device) const {
  unsigned architecture = 0;
  if (call("nvmlDeviceGetArchitecture", device, &architecture)) return {};
  return NvmlArchitecture(architecture);
}

std::optional<Watts> NvmlLibrary::power_limit(NvmlDevice device) const {
  unsigned milliwatts = 0;
  if (call("nvmlDeviceGetPowerManagementLimit", device, &milliwatts)) return {};
  return from_milliwatts(milliwatts);
}

NvmlAnswer<Joules> NvmlLibrary::energy(NvmlDevice device) const {
  unsigned long long millijoules = 0;
  if (auto failed = call("nvmlDeviceGetTotalEnergyConsumption", device, &millijoules))
    return *failed;
  if (is_blank(std::uint64_t(millijoules))) return blank();
  return Joules{double(millijoules) * 1e-3};
}

NvmlAnswer<Watts> NvmlLibrary::power(NvmlDevice device) const {
  unsigned milliwatts = 0;
  if (auto failed = call("nvmlDeviceGetPowerUsage", device, &milliwatts)) return *failed;
  if (is_blank(std::uint32_t(milliwatts))) return blank();
  return from_milliwatts(milliwatts);
}

NvmlAnswer<Watts> NvmlLibrary::power(NvmlDevice device, NvmlPower field, NvmlScope scope) const {
  NvmlField value{};
  value.field = unsigned(field);
  value.scope = unsigned(scope);
  if (auto failed = call("nvmlDeviceGetFieldValues", device, 1, &value)) return *failed;
  if (value.result != success) return failure(value.result);
  const auto number = number_in(value);
  if (const auto* why = std::get_if<std::string>(&number))
    return NvmlFailure{NvmlFailure::blank, *why};
  return Watts{std::get<double>(number) * 1e-3};
}

NvmlAnswer<double> NvmlLibrary::celsius(NvmlDevice device) const {
  constexpr unsigned of_the_gpu = 0;  // NVML_TEMPERATURE_GPU
  unsigned degrees = 0;
  if (auto failed = call("nvmlDeviceGetTemperature", device, of_the_gpu, &degrees)) return *failed;
  if (is_blank(std::uint32_t(degrees))) return blank();
  return double(degrees);
}

NvmlAnswer<double> NvmlLibrary::hertz(NvmlDevice device, NvmlClock clock) const {
  unsigned megahertz = 0;
  if (auto failed = call("nvmlDeviceGetClockInfo", device, unsigned(clock), &megahertz))
    return *failed;
  if (is_blank(std::uint32_t(megahertz))) return blank();
  return double(megahertz) * 1e6;
}

NvmlAnswer<double> NvmlLibrary::busy(NvmlDevice device) const {
  struct {  // nvmlUtilization_t, in percent
    unsigned gpu;
    unsigned memory;
  } rates{};
  if (auto failed = call("nvmlDeviceGetUtilizationRates", device, static_cast<void*>(&rates)))
    return *failed;
  if (is_blank(std::uint32_t(rates.gpu))) return blank();
  return double(rates.gpu) / 100;
}

NvmlAnswer<double> NvmlLibrary::memory_bytes(NvmlDevice device) const {
  struct {  // nvmlMemory_t
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
  } memory{};
  if (auto failed = call("nvmlDeviceGetMemoryInfo", device, static_cast<void*>(&memory)))
    return *failed;
  if (is_blank(std::uint64_t(memory.used))) return blank();
  return double(memory.used);
}

NvmlAnswer<double> NvmlLibrary::throttling(NvmlDevice device) const {
  unsigned long long reasons = 0;
  // Renamed in driver 535; the older name went on to work.
  auto failed = call("nvmlDeviceGetCurrentClocksEventReasons", device, &reasons);
  if (failed && failed->code == NvmlFailure::missing)
    failed = call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons);
  if (failed) return *failed;
  if (is_blank(std::uint64_t(reasons))) return blank();
  return double(reasons);
}

NvmlAnswer<double> NvmlLibrary::processes(NvmlDevice device) const {
  constexpr int too_small = 7;  // NVML_ERROR_INSUFFICIENT_SIZE: there are as many as it says
  unsigned count = 0;
  // Versions differ in what they tell of each process, for which no room is given.
  std::optional<NvmlFailure> failed;
  for (const char* name :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2",
        "nvmlDeviceGetComputeRunningProcesses"}) {
    failed = call(name, device, &count, static_cast<void*>(nullptr));
    if (!failed || failed->code != NvmlFailure::missing) break;
  }
  if (failed && failed->code != too_small) return *failed;
  return double(count);
}

}  // namespace parajoule::meter
