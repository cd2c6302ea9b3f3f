#pragma once

// A machine as a file describes it: machines/*.toml.

#include <map>
#include <optional>
#include <string>

#include "base/quantity.h"
#include "simulate/options.h"

namespace parajoule::rehearse {

struct Machine {
  std::string name;
  std::string source;  ///< where each number is from
  std::string device_kind;
  std::map<std::string, double> flops_per_second;  ///< by precision: float32, tf32, bfloat16 ...
  double memory_bytes = 0;                         ///< of a device
  simulate::Device device;
  int devices = 1;      ///< of a node
  int cores = 1;        ///< of a node
  base::Watts host{0};  ///< of a node, beside its devices
  simulate::Link node;
  simulate::Link network;
};

/// Throws Error{input} that names file, line and key.
Machine read_machine(const std::string& path);
Machine machine_in(const std::string& text, const std::string& path);

}  // namespace parajoule::rehearse
