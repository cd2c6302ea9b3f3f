#pragma once

// A model of what processors and memory draw, for where nothing meters them.

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/machine.h"
#include "meter/open.h"

namespace parajoule::meter {

/// Power of the cores of a run at utilisation u, 0 ... 1: idle + (peak - idle) u^exponent, a core.
///
/// Defaults. Peak: the rated power of server and desktop processors from 2019 to 2023 lies between
/// 3.5 W (EPYC 7742: 225 W, 64 cores) and 7.5 W a core (Xeon 6248: 150 W, 20 cores), the middle
/// being about 6 W. Idle: a quarter of it. Exponent: u^0.7 stays within 0.04 of 2u - u^1.4, which
/// Fan, Weber and Barroso ("Power provisioning for a warehouse-sized computer", ISCA 2007) fitted
/// to servers. Memory: 29 to 32 W were metered in servers with 512 GB (runs of arXiv:2508.07706),
/// which is 0.06 W a GiB; the coefficient usual for clouds is 0.4 W a GiB. Where the modules can be
/// counted, 3 W each: between those servers' 2 W, if theirs were of 32 GB, and the 5 W that
/// CodeCarbon takes.
struct PowerModel {
  base::Watts idle_per_core{1.5};
  base::Watts peak_per_core{6};
  double exponent = 0.7;
  base::Watts memory_per_gib{0.15};
  base::Watts memory_per_module{3};
  double core_bias = 0.6;    ///< 95 % bound, relative
  double memory_bias = 0.8;  ///< 95 % bound, relative

  base::Watts power(double utilisation, int cores) const;
};

/// The sources of device `cores`: its energy, and the utilisation it is made from: that of the
/// run's control group (`cpu.stat`), where it has one of its own, else of all that its processors
/// do. Throws Error{environment} if `<proc>/stat`, the latter's file, cannot be read.
std::vector<std::unique_ptr<Source>> model_cores(const Options& options, const Machine& machine,
                                                 const PowerModel& model = {});

/// The energy of device `memory`.
std::unique_ptr<Source> model_memory(const Machine& machine, const PowerModel& model = {});

}  // namespace parajoule::meter
