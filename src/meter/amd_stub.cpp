#include "meter/amd_stub.h"

#include <cstdint>
#include <cstring>

using Gpu = parajoule::meter::AmdStub::Gpu;

parajoule::meter::AmdStub amd_stub{};

namespace {

std::uintptr_t number(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }
Gpu& gpu_of(const void* handle) { return amd_stub.gpus[number(handle) - 1]; }

// amdsmi_power_info_t as the pages of ROCm 6.2, 6.4 and 7.1 show it.
struct Power24 {
  std::uint32_t current, average, gfx, soc, mem, limit, reserved[11];
};
struct Power25 {
  std::uint64_t socket;
  std::uint32_t current, average, gfx, soc, mem, limit, reserved[2];
};
struct Power26 {
  std::uint64_t socket;
  std::uint32_t current, average;
  std::uint64_t gfx, soc, mem;
  std::uint32_t limit;
  std::uint64_t reserved[18];
};

template <class Power>
void fill(void* info, const Gpu& gpu) {
  Power power{};
  power.current = gpu.current;
  power.average = gpu.average;
  power.gfx = 812;
  power.soc = 903;
  power.mem = 1204;
  power.limit = gpu.limit;
  if constexpr (requires { power.socket; }) power.socket = 77;
  std::memcpy(info, &power, sizeof power);
}

int energy(const Gpu& gpu, std::uint64_t* count, float* resolution, std::uint64_t* timestamp) {
  *count = gpu.count;
  *resolution = gpu.resolution;
  *timestamp = 1;
  return gpu.energy_result;
}

}  // namespace

extern "C" {

// AMD SMI ---------------------------------------------------------------------------------------

int amdsmi_init(std::uint64_t flags) {
  if (flags != 2) return 1;
  if (amd_stub.init_result == 0) ++amd_stub.uses;
  return amd_stub.init_result;
}

int amdsmi_shut_down() {
  --amd_stub.uses;
  return 0;
}

int amdsmi_status_code_to_string(int code, const char** words) {
  *words = code == 2 ? "NOT_SUPPORTED" : "FAILED";
  return 0;
}

int amdsmi_get_lib_version(void* version) {
  const std::uint32_t words[4] = {amd_stub.version, 6, 1, 0};
  std::memcpy(version, words, sizeof words);
  return 0;
}

int amdsmi_get_socket_handles(std::uint32_t* count, void** handles) {
  const unsigned sockets = (amd_stub.count + amd_stub.gpus_a_socket - 1) / amd_stub.gpus_a_socket;
  if (handles)
    for (unsigned i = 0; i < sockets && i < *count; ++i)
      handles[i] = reinterpret_cast<void*>(std::uintptr_t(100 + i));
  *count = sockets;
  return 0;
}

/// Each socket has a processor of another kind beside its GPUs.
int amdsmi_get_processor_handles(void* socket, std::uint32_t* count, void** handles) {
  const std::uintptr_t first = (number(socket) - 100) * amd_stub.gpus_a_socket;
  std::uint32_t found = 0;
  for (; found < amd_stub.gpus_a_socket && first + found < amd_stub.count; ++found)
    if (handles && found < *count) handles[found] = reinterpret_cast<void*>(first + found + 1);
  if (handles && found < *count) handles[found] = reinterpret_cast<void*>(std::uintptr_t(99));
  *count = found + 1;
  return 0;
}

int amdsmi_get_processor_type(void* processor, int* type) {
  *type = number(processor) == 99 ? 2 : 1;
  return 0;
}

int amdsmi_get_gpu_bdf_id(void* gpu, std::uint64_t* address) {
  *address = (number(gpu) - 1) << 8;
  return 0;
}

int amdsmi_get_energy_count(void* gpu, std::uint64_t* count, float* resolution,
                            std::uint64_t* timestamp) {
  return energy(gpu_of(gpu), count, resolution, timestamp);
}

int amdsmi_get_power_info(void* gpu, void* info) {
  switch (amd_stub.version) {
    case 24:
      fill<Power24>(info, gpu_of(gpu));
      break;
    case 25:
      fill<Power25>(info, gpu_of(gpu));
      break;
    default:
      fill<Power26>(info, gpu_of(gpu));
  }
  return gpu_of(gpu).power_result;
}

int amdsmi_get_temp_metric(void* gpu, int sensor, int metric, std::int64_t* degrees) {
  *degrees = gpu_of(gpu).celsius + 10 * sensor;
  if (metric != 0) return 1;
  return sensor == 0 && gpu_of(gpu).edge_result ? gpu_of(gpu).edge_result
                                                : gpu_of(gpu).others_result;
}

int amdsmi_get_clock_info(void* gpu, int type, void* info) {
  const std::uint32_t clock = type == 0 ? gpu_of(gpu).megahertz : 1600;
  std::memcpy(info, &clock, sizeof clock);
  return gpu_of(gpu).others_result;
}

int amdsmi_get_gpu_activity(void* gpu, void* usage) {
  const std::uint32_t percents[16] = {gpu_of(gpu).busy_percent, 40, 0xffff};
  std::memcpy(usage, percents, sizeof percents);
  return gpu_of(gpu).others_result;
}

int amdsmi_get_gpu_memory_usage(void* gpu, int kind, std::uint64_t* used) {
  *used = kind == 0 ? gpu_of(gpu).memory_bytes : 0;
  return gpu_of(gpu).others_result;
}

// ROCm SMI --------------------------------------------------------------------------------------

int rsmi_init(std::uint64_t) {
  ++amd_stub.uses;
  return 0;
}

int rsmi_shut_down() {
  --amd_stub.uses;
  return 0;
}

int rsmi_status_string(int code, const char** words) {
  *words = code == 2 ? "NOT_SUPPORTED" : "FAILED";
  return 0;
}

int rsmi_version_get(void* version) {
  const std::uint32_t words[4] = {7, 2, 0, 0};
  std::memcpy(version, words, sizeof words);
  return 0;
}

int rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = amd_stub.count;
  return 0;
}

int rsmi_dev_pci_id_get(std::uint32_t gpu, std::uint64_t* address) {
  *address = std::uint64_t(gpu) << 8;
  return 0;
}

int rsmi_dev_energy_count_get(std::uint32_t gpu, std::uint64_t* count, float* resolution,
                              std::uint64_t* timestamp) {
  return energy(amd_stub.gpus[gpu], count, resolution, timestamp);
}

int rsmi_dev_current_socket_power_get(std::uint32_t gpu, std::uint64_t* microwatts) {
  *microwatts = amd_stub.gpus[gpu].current * 1'000'000ULL;
  return amd_stub.gpus[gpu].current_result;
}

int rsmi_dev_power_ave_get(std::uint32_t gpu, std::uint32_t, std::uint64_t* microwatts) {
  *microwatts = amd_stub.gpus[gpu].average * 1'000'000ULL;
  return amd_stub.gpus[gpu].average_result;
}

int rsmi_dev_power_cap_get(std::uint32_t gpu, std::uint32_t, std::uint64_t* microwatts) {
  *microwatts = amd_stub.gpus[gpu].limit * 1'000'000ULL;
  return 0;
}

int rsmi_dev_temp_metric_get(std::uint32_t gpu, std::uint32_t sensor, int,
                             std::int64_t* millidegrees) {
  *millidegrees = (amd_stub.gpus[gpu].celsius + 10 * sensor) * 1000;
  return amd_stub.gpus[gpu].others_result;
}

int rsmi_dev_busy_percent_get(std::uint32_t gpu, std::uint32_t* percent) {
  *percent = amd_stub.gpus[gpu].busy_percent;
  return amd_stub.gpus[gpu].others_result;
}

int rsmi_dev_memory_usage_get(std::uint32_t gpu, int, std::uint64_t* used) {
  *used = amd_stub.gpus[gpu].memory_bytes;
  return amd_stub.gpus[gpu].others_result;
}

}  // extern "C"
