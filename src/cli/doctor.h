#pragma once

// What `parajoule doctor` looks at: each finding is one line and, where something can be done, the
// line that does it. Nothing is ever changed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "cli/process.h"
#include "cli/surroundings.h"
#include "cli/table.h"
#include "meter/open.h"

namespace parajoule::cli {

struct Finding {
  enum class State { ok = 1, worth_knowing, wrong };
  State state;
  std::string about;        ///< `memory`, `MPI`
  std::string what;         ///< one line
  std::string remedy = {};  ///< one line to run or to do; empty where nothing is needed or helps
};
using Findings = std::vector<Finding>;

/// What a program said that was asked something.
struct Answer {
  enum class How { ended = 1, not_found, late };
  How how;
  Exit exit = {};
  std::string output = {};
  std::string errors = {};
  bool well() const { return how == How::ended && exit.code == 0 && !exit.signal; }
};

/// Told once of a program that takes more than a second to answer, with the limit it has.
using WhenSlow = std::function<void(const Command& command, base::Seconds limit)>;

/// Runs a program in a session of its own; with all it has started it is killed at the limit.
Answer asked(const Command& command, base::Seconds limit, const WhenSlow& when_slow = {});

/// The machine that is looked at. Everything of it is a parameter, so that tests make one up.
struct Patient {
  std::filesystem::path sys = "/sys";
  std::filesystem::path proc = "/proc";
  std::filesystem::path dev = "/dev";
  std::string nvml = "libnvidia-ml.so.1";
  std::vector<int> processors;  ///< that this process may run on
  bool avx2 = false;            ///< the processor has it
  std::string train_program;    ///< parajoule-train
  Environment environment;
  /// Runs a program to its end, or for as long as is decent.
  std::function<Answer(const Command&)> ask;
  /// Size of the file system that holds a path, in bytes.
  std::function<std::optional<std::uint64_t>(const std::filesystem::path&)> size_of;
};

/// This machine.
Patient this_machine(const WhenSlow& when_slow = {});

// Each in a file of its own.
Findings machine_findings(const Patient& patient);  ///< processor, cores, limits, memory, clock
Findings program_findings(const Patient& patient);  ///< parajoule-train, BLAS, MPI
Findings meter_findings(const Patient& patient);    ///< counters, permissions, NVIDIA's driver
Findings cluster_findings(const Patient& patient);  ///< Slurm

/// All of them.
Findings examined(const Patient& patient);

/// A line for an administrator.
struct AdminLine {
  std::string opens;  ///< what it makes readable, and what weighs against it
  std::string line;
  bool needed;  ///< on this machine, for whoever asks
};
std::vector<AdminLine> admin_lines(const Patient& patient);

/// `ok`, `worth knowing`, `wrong`.
std::string_view name_of(Finding::State state);

/// In lines of at most `columns`, with a count at the end.
std::string doctor_text(const Findings& findings, std::size_t columns, Look look);

/// {"format": "parajoule doctor", "version": 1, ...}
std::string doctor_json(const Findings& findings);

/// A shell script; what this machine does not need is commented out.
std::string admin_text(const std::vector<AdminLine>& lines);
std::string admin_json(const std::vector<AdminLine>& lines);

}  // namespace parajoule::cli
