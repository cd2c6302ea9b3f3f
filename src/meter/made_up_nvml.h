#pragma once

// For tests: NVIDIA's library made up, as the meter loads it.

#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "meter/nvml.h"
#include "meter/nvml_stub.h"

namespace parajoule::meter {

/// The stub with `count` fresh GPUs, loaded as the meter will load it.
class Nvml : public testing::Test {
 protected:
  Nvml() : handle_(::dlopen(NVML_STUB, RTLD_NOW)) {
    if (!handle_) throw std::runtime_error(::dlerror());
    stub = static_cast<NvmlStub*>(::dlsym(handle_, "nvml_stub"));
    *stub = NvmlStub();
    for (int i = 0; i < NvmlStub::most_gpus; ++i)
      std::snprintf(stub->gpus[i].uuid, sizeof stub->gpus[i].uuid,
                    "GPU-%d%d%d%d-aaaa-bbbb-cccc-ddddeeeeffff", i, i, i, i);
  }
  ~Nvml() override { ::dlclose(handle_); }

  static Options options(std::vector<std::string> visible) {
    return {.nvml = NVML_STUB, .visible_devices = std::move(visible)};
  }

  static std::vector<std::string> devices(const Opened& opened) {
    std::vector<std::string> names;
    for (const auto& source : opened.sources)
      if (source->description().quantity == Quantity::energy)
        names.push_back(source->description().device);
    return names;
  }

  NvmlStub* stub;
  NvmlStub::Gpu& gpu() { return stub->gpus[0]; }

 private:
  void* handle_;
};

inline double value(const Reading& reading) {
  EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
  return std::get<double>(reading);
}

}  // namespace parajoule::meter
