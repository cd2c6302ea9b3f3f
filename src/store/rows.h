#pragma once

// The rows of a run's record: one struct a table, one member a column (docs/record.md). Moments are
// seconds of the node's monotonic clock since the record was opened.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::store {

// The words stand in the record, so they are promises. None of them is zero: a member that was
// forgotten cannot pass for the first word.
enum class Kind { run = 1, measure, rehearsal, import };
enum class State { running = 1, done, stopped, failed };  ///< stopped: can be resumed
enum class Quantity { energy = 1, power, temperature, clock, utilisation, memory };
enum class Label { measured = 1, modelled, simulated };
enum class Severity { note = 1, warning, error };

struct Run {
  std::string id;    ///< eight letters, unique among a user's records
  std::string name;  ///< the experiment's
  Kind kind;
  State state;
  std::string started_utc;  ///< 2025-11-30T10:11:12.123Z
  std::string version;      ///< of the parajoule that wrote it
  std::string command;      ///< as typed, quoted for a shell
  bool operator==(const Run&) const = default;
};

/// One key with the value that held and where it came from: default, file, command line ...
struct Setting {
  std::string key;  ///< `local_batch_size`, `local_sgd.period`
  std::string value;
  std::string origin;
  bool operator==(const Setting&) const = default;
};

struct Node {
  int node;             ///< from 0
  std::string boot_id;  ///< of /proc/sys/kernel/random: differs after each start of the machine
  std::string host;
  int cpus;
  std::int64_t memory_bytes;
  bool operator==(const Node&) const = default;
};

/// Where numbers come from. Members without a default must be given: a number without a label and
/// without a word on what it covers cannot be written.
struct Source {
  int source;  ///< from 0, unique in the record
  int node;
  std::string device;       ///< `package-0`, `GPU 3`
  std::string device_kind;  ///< `cpu`, `memory`, `gpu`, `platform`
  Quantity quantity;
  std::string unit;  ///< `joules`, `watts`, `celsius`, `hertz`, `fraction`, `bytes`
  Label label;
  std::string covers;                               ///< word for word what it sees
  std::optional<std::string> part_of = {};          ///< the device whose number holds this one
  std::optional<double> resolution = {};            ///< in `unit`
  std::optional<base::Seconds> update_period = {};  ///< how often the device renews the number
  std::optional<base::Seconds> window = {};         ///< over which the device averages
  std::optional<double> bias_relative = {};         ///< 95 % bound common to all of its type
  std::optional<std::string> formula = {};          ///< of what is modelled, with its inputs
  bool operator==(const Source&) const = default;
};

/// Either a value or the cause of its absence, never both. Energy is a counter that only grows.
struct Reading {
  int source;
  base::Seconds seconds;
  std::optional<double> value = {};
  std::optional<std::string> gap = {};
  bool operator==(const Reading&) const = default;
};

/// A stretch of one rank's time. Those of a rank do not overlap; spans of a phase that are shorter
/// than a quarter of a second may be put together into one.
struct Phase {
  int rank;
  std::string name;  ///< one of `phases` in training; a region's name in `measure`
  base::Seconds begin;
  base::Seconds end;
  bool operator==(const Phase&) const = default;
};

/// The phases of training, in the order in which they are shown.
inline constexpr std::string_view phases[] = {
    "data_wait", "forward",    "backward",  "exposed_communication",
    "update",    "evaluation", "checkpoint"};

/// One batch of one rank.
struct Step {
  int rank;
  std::int64_t step;        ///< of this rank, from 0, over all epochs
  base::Seconds seconds;    ///< when it ended
  std::int64_t samples;     ///< this rank took; 0: none were left for it
  double loss;              ///< mean over them; NaN: there are none, or it was not a number
  std::int64_t sent_bytes;  ///< to other ranks in this step
  base::Seconds waited;     ///< for other ranks in this step
  bool operator==(const Step&) const = default;
};

/// One metric of one evaluation: a fraction over all samples of a set. The top-1 error in percent
/// is 100 numerator / denominator of `top1_error`.
struct Epoch {
  std::int64_t epoch;     ///< from 0
  base::Seconds seconds;  ///< when the evaluation ended
  std::string set;        ///< `training`, `validation`
  std::string metric;     ///< `loss`, `top1_error`, `top5_error`
  double numerator;
  double denominator;
  bool operator==(const Epoch&) const = default;
};

/// What a reader of the record should know: a fallback, a gap, why the run ended.
struct Note {
  base::Seconds seconds;
  std::optional<int> rank = {};  ///< none: the run as a whole
  Severity severity;
  std::string text;  ///< one line
  bool operator==(const Note&) const = default;
};

// How notes begin that readers count or show apart: promises too.
inline constexpr std::string_view not_metered = "not metered: ";
inline constexpr std::string_view metering_cost = "metering took ";
inline constexpr std::string_view skipped_sample = "bad sample skipped: ";
inline constexpr std::string_view replaced_sample = "bad sample replaced by sample ";
inline constexpr std::string_view mended_damage = "damage mended: ";  ///< then how many times

}  // namespace parajoule::store
