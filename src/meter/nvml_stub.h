#pragma once

// For tests: a library that answers like NVIDIA's, as told. Both the library and the test include
// this; the test finds `nvml_stub` in the library it loads.

namespace parajoule::meter {

struct NvmlStub {
  static constexpr int most_gpus = 8;
  static constexpr int not_supported = 3;
  static constexpr int gpu_is_lost = 15;

  struct Gpu {
    const char* name = "NVIDIA A100-SXM4-40GB";
    char uuid[80] = "";
    unsigned architecture = 7;
    unsigned limit_milliwatts = 400'000;
    unsigned long long millijoules = 5'000'000;
    unsigned milliwatts = 250'000;
    unsigned instant_milliwatts = 260'000;
    unsigned average_milliwatts = 255'000;
    unsigned module_milliwatts = 600'000;
    unsigned memory_milliwatts = 40'000;
    int energy_result = 0;  ///< what the function returns; 0: it went well
    int power_result = 0;
    int instant_result = 0;
    int average_result = not_supported;
    int module_result = not_supported;
    int memory_result = not_supported;
    int handle_result = 0;
    unsigned parts = 0;  ///< MIG instances

    int others_result = not_supported;  ///< of all that follows
    unsigned celsius = 45;
    unsigned processor_megahertz = 1410;
    unsigned memory_megahertz = 1215;
    unsigned busy_percent = 87;
    unsigned long long memory_bytes = 7'000'000'000;
    unsigned long long reasons = 4;
    unsigned processes = 0;
  };

  int init_result = 0;
  unsigned count = 1;
  Gpu gpus[most_gpus];
  int uses = 0;      ///< calls of nvmlInit_v2 less those of nvmlShutdown
  int readings = 0;  ///< calls that ask for an energy or a power
};

}  // namespace parajoule::meter

extern "C" parajoule::meter::NvmlStub nvml_stub;
