#pragma once

// For tests: one library that answers like both of AMD's, as told. Both the library and the test
// include this; the test finds `amd_stub` in the library it loads.

namespace parajoule::meter {

struct AmdStub {
  static constexpr int most_gpus = 8;
  static constexpr int not_supported = 2;

  struct Gpu {
    unsigned long long count = 1'000'000'000;
    float resolution = 15.3F;
    unsigned current = 310;  ///< watts
    unsigned average = 300;
    unsigned limit = 560;
    int energy_result = 0;
    int power_result = 0;
    int current_result = 0;  ///< of ROCm SMI, which asks for the two apart
    int average_result = 0;
    int others_result = not_supported;  ///< of all that follows
    long long celsius = 61;
    int edge_result = 0;
    unsigned megahertz = 1700;
    unsigned busy_percent = 93;
    unsigned long long memory_bytes = 9'000'000'000;
  };

  int init_result = 0;
  unsigned version = 24;  ///< of AMD SMI: 24, 25 and 26 lay out their answers differently
  unsigned count = 1;
  unsigned gpus_a_socket = 1;
  Gpu gpus[most_gpus];
  int uses = 0;  ///< initialisations less shut-downs
};

}  // namespace parajoule::meter

extern "C" parajoule::meter::AmdStub amd_stub;
