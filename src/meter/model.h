#pragma once

// A model of what processors and memory draw, for where nothing meters them.

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/open.h"

namespace parajoule::meter {

/// Power of the cores of a run at utilisation u, 0 ... 1: idle + (peak - idle) u^exponent, a core.
///
/// Defaults. Peak: the rated power of server and desktop processors from 2019 to 2023 lies between
/// 3.5 W (EPYC 7742: 225 W, 64 cores) and 7.5 W a core (Xeon 6248: 150 W, 20 cores), the middle
/// being about 6 W. Idle: a quarter of it. Exponent: u^0.7 stays within 0.04 of 2u - u^1.4, which
/// Fan, Weber and Barroso (ISCA 2007, section 4.2) fitted to servers. Memory: 29 to 32 W were
/// metered in servers with 512 GiB in 16 large modules, 0.4 W a GiB is usual for small ones.
struct PowerModel {
  base::Watts idle_per_core{1.5};
  base::Watts peak_per_core{6};
  double exponent = 0.7;
  base::Watts memory_per_gib{0.15};
  double core_bias = 0.6;    ///< 95 % bound, relative
  double memory_bias = 0.8;  ///< 95 % bound, relative

  base::Watts power(double utilisation, int cores) const;
};

/// What the model was told of this machine.
struct Machine {
  std::vector<int> processors;               ///< logical, those of the run
  int cores;                                 ///< physical, those that hold them
  std::string processor;                     ///< as it calls itself
  std::optional<double> highest_hertz = {};  ///< clock, if the kernel tells
  double memory_gib;                         ///< of the node, or what the run's cgroup may use
};

/// Throws Error{environment} if `<proc>/stat` or `<proc>/meminfo` cannot be read.
Machine machine(const Options& options);

/// The sources `cores` (energy, and utilisation as its input) and `memory` (energy).
std::vector<std::unique_ptr<Source>> model_cores(const Options& options, const Machine& machine,
                                                 const PowerModel& model = {});
std::unique_ptr<Source> model_memory(const Machine& machine, const PowerModel& model = {});

}  // namespace parajoule::meter
