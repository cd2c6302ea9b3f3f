#include "meter/families.h"

#include "meter/amd.h"
#include "meter/cray.h"
#include "meter/dcmi.h"
#include "meter/hwmon.h"
#include "meter/nvml.h"
#include "meter/outlet.h"
#include "meter/processors.h"
#include "meter/rapl.h"
#include "meter/redfish.h"

namespace parajoule::meter {

namespace {

constexpr Family known[] = {
    {.name = "RAPL", .reads = "/sys/class/powercap and the perf unit power", .open = open_rapl},
    {.name = "NVIDIA NVML", .reads = "libnvidia-ml.so.1", .open = open_nvml},
    {.name = "AMD SMI", .reads = "libamd_smi.so, or librocm_smi64.so", .open = open_amd},
    {.name = "hwmon", .reads = "/sys/class/hwmon", .open = open_hwmon},
    {.name = "Cray pm_counters", .reads = "/sys/cray/pm_counters", .open = open_cray},
    {.name = "IPMI DCMI", .reads = "/dev/ipmi0", .open = open_dcmi},
    {.name = "Redfish", .reads = "the address given, by libcurl.so.4", .open = open_redfish},
    {.name = "outlets",
     .reads = "the outlets given, by libnetsnmp.so.40 or libcurl.so.4",
     .open = open_outlets},
    {.name = "processors", .reads = "hwmon, cpufreq, thermal_throttle", .open = open_processors},
};

}  // namespace

std::span<const Family> families() { return known; }

}  // namespace parajoule::meter
