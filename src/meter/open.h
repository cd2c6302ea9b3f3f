#pragma once

// Finds the sources of this machine. Every path and library name is a parameter, so that tests hand
// in made-up trees and libraries.

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "meter/found_periods.h"
#include "meter/ipmi.h"
#include "meter/perf_counter.h"
#include "meter/source.h"

namespace parajoule::meter {

/// Why a number cannot be had on this machine. It is an answer, not an error.
struct Unavailable {
  enum class State {
    unreadable = 1,  ///< it is there, and does not let itself be read
    dead,            ///< it answers, and nothing is behind it
    absent,          ///< nothing of the kind is here
    left_out,        ///< it is there, and not of this run
    spare,           ///< another source has the same number: nothing is missing
  };
  std::string what;    ///< `package-0, RAPL powercap`
  std::string reason;  ///< `energy_uj is readable for root only`
  std::string remedy;  ///< one line to run, or why nothing helps
  State state;
  bool operator==(const Unavailable&) const = default;
  bool spare() const { return state == State::spare; }
};

struct Opened {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Unavailable> unavailable;
  std::vector<TakenPeriod> periods = {};  ///< that were found earlier and taken from there
};

/// What one family of meters, or the model, has on this machine.
struct OpenedFamily {
  std::string_view name;   ///< as in `families`; `model`
  std::string_view reads;  ///< what is opened
  bool met_devices;        ///< has read real ones; else it knows made-up ones only
  Opened opened;
};

struct Options {
  std::filesystem::path sys = "/sys";
  std::filesystem::path proc = "/proc";
  std::filesystem::path dev = "/dev";
  std::string nvml = "libnvidia-ml.so.1";
  std::string amd_smi = "libamd_smi.so";
  std::string rocm_smi = "librocm_smi64.so";
  std::string curl = "libcurl.so.4";
  std::string snmp = "libnetsnmp.so.40";

  /// Opens the counters of perf. None: the kernel's.
  PerfOpener perf = {};

  /// Opens the way to the management controller. None: the kernel's.
  IpmiOpener ipmi = {};

  /// A management controller in the network. None: none is asked.
  struct Redfish {
    std::string address;                ///< `https://HOST`
    std::filesystem::path credentials;  ///< a file of mode 0600, see credentials.h
  };
  std::optional<Redfish> redfish = {};

  /// What feeds the node, metered by whatever feeds it: an outlet of a power distribution unit, or
  /// a switch that gives power over its cable.
  struct Outlet {
    std::string name;     ///< of the device in the record
    std::string address;  ///< `HOST[:PORT]` for SNMP, or `https://HOST/redfish/v1/...`
    std::filesystem::path credentials;    ///< a file of mode 0600, see credentials.h
    std::string power = {};               ///< SNMP: object of a power; empty: there is none
    std::string energy = {};              ///< SNMP: object of a counter of energy
    double power_unit = 1;                ///< watts that 1 of it means
    double energy_unit = 3.6e6;           ///< joules that 1 of it means
    std::optional<double> accuracy = {};  ///< 95 % bound, relative
    int feeds = 1;                        ///< nodes on this outlet; each is given an equal part
  };
  std::vector<Outlet> outlets = {};

  /// What `parajoule sensors` found of update periods on this machine, see found_periods.h. Empty:
  /// it is not asked.
  std::filesystem::path periods = {};

  /// The logical processors of the run on this node, for what is modelled. None: those this process
  /// may run on. With several ranks a node its owner gives the union of `own_cores()` of them all.
  std::optional<std::vector<int>> cores = {};

  /// The CUDA_VISIBLE_DEVICES of the run on this node: one text a rank, their union is metered. An
  /// empty list: all GPUs. None: that of this process.
  std::optional<std::vector<std::string>> visible_devices = {};

  /// CUDA_DEVICE_ORDER of the run: by it CUDA's numbers are NVML's, or those of another order.
  /// None: that of this process.
  std::optional<std::string> device_order = {};

  /// ROCR_VISIBLE_DEVICES of the run. None: that of this process.
  std::optional<std::string> rocr_visible_devices = {};

  /// HIP_VISIBLE_DEVICES of the run, one text a rank. None: that of this process, or else, as HIP
  /// does, `visible_devices`.
  std::optional<std::vector<std::string>> hip_visible_devices = {};

  /// Counters of a family that take longer than this together are read by a thread of their own.
  base::Seconds slow_counters = base::Seconds(0.02);

  /// How long a counter may stand still before it is taken for dead. None: it is not tried.
  std::optional<base::Seconds> patience = base::Seconds(0.02);
};

/// All that can be read on this machine, and what cannot with its reason. What has no meter gets a
/// model that says so. Opened by one process a node, whatever the number of ranks: its owner.
Opened open_sources(const Options& options = {});

/// The same, each family apart, the model last.
std::vector<OpenedFamily> open_families(const Options& options = {});

/// The logical processors that this process may run on.
std::vector<int> own_cores();

/// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER of this process, if they are set.
std::optional<std::string> own_visible_devices();
std::optional<std::string> own_device_order();

/// What draws power in every node and none of `sources` sees, in plain words: for the list that
/// stands beside the totals. Nothing where a meter has the whole node.
std::vector<std::string> unmetered(std::span<const Description> sources);

}  // namespace parajoule::meter
