#include "meter/nvml_stub.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

using Gpu = parajoule::meter::NvmlStub::Gpu;

parajoule::meter::NvmlStub nvml_stub{};

namespace {

/// A MIG instance's handle is its GPU's with the instance's number, from 1, above.
std::uintptr_t number(const void* device) { return reinterpret_cast<std::uintptr_t>(device); }
std::uintptr_t part_of(const void* device) { return number(device) >> 8; }
Gpu& gpu_of(const void* device) { return nvml_stub.gpus[(number(device) & 0xff) - 1]; }
void* handle(std::uintptr_t gpu, std::uintptr_t part) {
  return reinterpret_cast<void*>((part << 8) + gpu + 1);
}

/// nvmlFieldValue_t.
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  int result;
  unsigned long long value;
};

/// What a field of power answers: a result, and milliwatts.
std::pair<int, unsigned> power(const Gpu& gpu, const FieldValue& field) {
  if (field.field == 185 && field.scope == 0) return {gpu.average_result, gpu.average_milliwatts};
  if (field.field == 185 && field.scope == 2) return {gpu.memory_result, gpu.memory_milliwatts};
  if (field.field == 186 && field.scope == 0) return {gpu.instant_result, gpu.instant_milliwatts};
  if (field.field == 186 && field.scope == 1) return {gpu.module_result, gpu.module_milliwatts};
  return {3, 0};
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  if (nvml_stub.init_result == 0) ++nvml_stub.uses;
  return nvml_stub.init_result;
}

int nvmlShutdown() {
  --nvml_stub.uses;
  return 0;
}

const char* nvmlErrorString(int code) {
  switch (code) {
    case 3:
      return "Not Supported";
    case 9:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    default:
      return "Unknown Error";
  }
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = nvml_stub.count;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= nvml_stub.count) return 2;
  *device = handle(index, 0);
  return nvml_stub.gpus[index].handle_result;
}

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  std::snprintf(text, length, "535.54.03");
  return 0;
}

int nvmlDeviceGetName(void* device, char* text, unsigned length) {
  std::snprintf(text, length, "%s", gpu_of(device).name);
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
  if (part_of(device) == 0)
    std::snprintf(text, length, "%s", gpu_of(device).uuid);
  else
    std::snprintf(text, length, "MIG-%02x%s", unsigned(part_of(device)), gpu_of(device).uuid + 4);
  return 0;
}

int nvmlDeviceGetArchitecture(void* device, unsigned* architecture) {
  *architecture = gpu_of(device).architecture;
  return 0;
}

int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* milliwatts) {
  *milliwatts = gpu_of(device).limit_milliwatts;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* device, unsigned* count) {
  *count = gpu_of(device).parts > 0 ? 7 : 0;
  return 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** part) {
  if (index >= gpu_of(device).parts) return 6;
  *part = handle(number(device) - 1, index + 1);
  return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* millijoules) {
  ++nvml_stub.readings;
  *millijoules = gpu_of(device).millijoules;
  return gpu_of(device).energy_result;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  ++nvml_stub.readings;
  *milliwatts = gpu_of(device).milliwatts;
  return gpu_of(device).power_result;
}

int nvmlDeviceGetFieldValues(void* device, int count, FieldValue* fields) {
  ++nvml_stub.readings;
  for (int i = 0; i < count; ++i) {
    const auto [result, value] = power(gpu_of(device), fields[i]);
    fields[i].result = result;
    // Only the part that the type names is written, as NVIDIA's library does.
    std::memcpy(&fields[i].value, &value, sizeof value);
    fields[i].type = 1;
  }
  return 0;
}

int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* celsius) {
  *celsius = gpu_of(device).celsius;
  return gpu_of(device).others_result;
}

int nvmlDeviceGetClockInfo(void* device, unsigned clock, unsigned* megahertz) {
  const Gpu& gpu = gpu_of(device);
  *megahertz = clock == 1 ? gpu.processor_megahertz : gpu.memory_megahertz;
  return gpu.others_result;
}

int nvmlDeviceGetUtilizationRates(void* device, void* rates) {
  const unsigned percents[2] = {gpu_of(device).busy_percent, 12};
  std::memcpy(rates, percents, sizeof percents);
  return gpu_of(device).others_result;
}

int nvmlDeviceGetMemoryInfo(void* device, void* memory) {
  const unsigned long long used = gpu_of(device).memory_bytes;
  const unsigned long long bytes[3] = {40'000'000'000, 40'000'000'000 - used, used};
  std::memcpy(memory, bytes, sizeof bytes);
  return gpu_of(device).others_result;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  *reasons = gpu_of(device).reasons;
  return gpu_of(device).others_result;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void*) {
  const Gpu& gpu = gpu_of(device);
  if (gpu.others_result != 0) return gpu.others_result;
  const bool room = *count >= gpu.processes;
  *count = gpu.processes;
  return room ? 0 : 7;
}

}  // extern "C"
