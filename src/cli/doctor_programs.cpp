#include <algorithm>

#include <fmt/format.h>

#include "cli/blas.h"
#include "cli/doctor.h"
#include "cli/launch.h"
#include "cli/one_line.h"

namespace parajoule::cli {

using State = Finding::State;

namespace {

/// The line that says most of what went wrong: the first that is not empty.
std::string first_line(std::string_view text) {
  while (!text.empty()) {
    const std::string line = one_line(text.substr(0, text.find('\n')));
    text.remove_prefix(
        std::min(text.size(), text.find('\n') == text.npos ? text.size() : text.find('\n') + 1));
    // mpirun frames what it has to say by lines of dashes.
    if (line.find_first_not_of("- ") != line.npos) return line;
  }
  return "it said nothing";
}

std::string how_it_failed(const Answer& answer) {
  if (answer.how == Answer::How::not_found) return "it cannot be started";
  if (answer.how == Answer::How::late) return "it did not come to an end in time";
  if (answer.exit.signal)
    return fmt::format("it died of signal {}: {}", *answer.exit.signal, first_line(answer.errors));
  return fmt::format("it ended with status {}: {}", answer.exit.code, first_line(answer.errors));
}

void look_at_blas(const Patient& patient, const BackendFacts& backend, Findings& findings) {
  const auto better =
      better_kernel({.kernel = backend.kernel, .avx2 = patient.avx2}, patient.environment);
  findings.push_back(
      {better ? State::worth_knowing : State::ok, "BLAS",
       fmt::format("{} runs the kernels for {}{}", backend.blas, backend.kernel,
                   better ? ", several times slower than this processor allows; `parajoule train` "
                            "chooses better ones by itself, other programs do not"
                          : ""),
       better ? fmt::format("export {}={}", better->variable, better->value) : ""});
}

/// Whether it is there.
bool look_at_train(const Patient& patient, Findings& findings) {
  if (std::error_code error; !std::filesystem::exists(patient.train_program, error)) {
    findings.push_back(
        {State::worth_knowing, "training",
         "parajoule-train is not installed: metering works, training does not",
         fmt::format("build it with libtorch and MPI (cmake -DPARAJOULE_TRAIN=ON); its place is {}",
                     patient.train_program)});
    return false;
  }
  const Answer answer = patient.ask({.words = {patient.train_program, "--backend"}});
  if (!answer.well()) {
    findings.push_back({State::wrong, "training",
                        fmt::format("{}: {}", patient.train_program, how_it_failed(answer)),
                        fmt::format("ldd {} | grep 'not found'", patient.train_program)});
    return true;
  }
  const BackendFacts backend = backend_facts_in(answer.output);
  findings.push_back({State::ok, "training", fmt::format("libtorch {}", backend.torch)});
  look_at_blas(patient, backend, findings);
  return true;
}

void look_at_mpi(const Patient& patient, bool trains, Findings& findings) {
  const Answer version = patient.ask({.words = {"mpirun", "--version"}});
  if (version.how == Answer::How::not_found) {
    findings.push_back({trains ? State::worth_knowing : State::ok, "MPI",
                        "no mpirun: training runs on one rank, metering needs none",
                        trains ? "load the cluster's module (module load openmpi), or: sudo "
                                 "apt-get install openmpi-bin"
                               : ""});
    return;
  }
  const LaunchFacts two{
      .ranks = 2, .ranks_on_node = 2, .node_cores = std::max(1, int(patient.processors.size()))};
  Command command = starter(two, {"true"});
  std::erase(command.words, "-q");  // it swallows what mpirun has to say
  const Answer start = patient.ask(command);
  const std::string name = first_line(version.well() ? version.output : version.errors);
  if (start.well()) {
    findings.push_back({State::ok, "MPI", fmt::format("{}; it starts two ranks", name)});
    return;
  }
  findings.push_back(
      {trains ? State::wrong : State::worth_knowing, "MPI",
       fmt::format("{}; it does not start two ranks: {}", name, how_it_failed(start)),
       "see all it says: mpirun -n 2 true"});
}

}  // namespace

Findings program_findings(const Patient& patient) {
  Findings findings;
  const bool trains = look_at_train(patient, findings);
  look_at_mpi(patient, trains, findings);
  return findings;
}

}  // namespace parajoule::cli
