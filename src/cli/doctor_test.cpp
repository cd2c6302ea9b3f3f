#include "cli/doctor.h"

#include <map>
#include <sstream>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/blas.h"
#include "meter/made_up_tree.h"
#include "meter/nobody.h"
#include "meter/nvml_stub.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using meter::MadeUpTree;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using State = Finding::State;

using Variables = std::map<std::string, std::string, std::less<>>;

/// A healthy machine of four processors; tests spoil it.
struct Healthy {
  MadeUpTree tree;
  std::string nvml = (tree.root() / "no-such-library.so").string();
  Variables variables;
  std::map<std::string, Answer> answers;  ///< by the first word, and the last

  Healthy() {
    tree.write("proc/meminfo", "MemTotal:       16777216 kB\n");
    tree.write("proc/cpuinfo", "model name\t: Made up\n");
    tree.write("proc/self/cgroup", "0::/\n");
    tree.write("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t0\n");
    tree.write("sys/devices/system/cpu/online", "0-3\n");
    tree.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    for (const char* cpu : {"cpu0", "cpu1", "cpu2", "cpu3"})
      tree.write(std::filesystem::path("sys/devices/system/cpu") / cpu / "cpufreq/scaling_governor",
                 "performance\n");
    tree.write("train", "");
    answers["mpirun --version"] = {.how = Answer::How::ended,
                                   .output = "mpirun (Open MPI) 4.1.4\n\nReport bugs\n"};
    answers["mpirun true"] = {.how = Answer::How::ended};
    answers["train --backend"] = {
        .how = Answer::How::ended,
        .output = written(
            BackendFacts{.torch = "1.13.1", .blas = "OpenBLAS 0.3.21", .kernel = "Haswell"})};
  }

  Patient patient() const {
    return {.sys = tree.root() / "sys",
            .proc = tree.root() / "proc",
            .dev = tree.root() / "dev",
            .nvml = nvml,
            .processors = {0, 1, 2, 3},
            .avx2 = true,
            .train_program = (tree.root() / "train").string(),
            .environment = [this](std::string_view name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              if (found == variables.end()) return {};
              return found->second;
            },
            .ask =
                [this](const Command& command) {
                  const std::string program =
                      std::filesystem::path(command.words.front()).filename().string();
                  const auto found = answers.find(program + " " + command.words.back());
                  return found == answers.end() ? Answer{.how = Answer::How::not_found}
                                                : found->second;
                },
            .size_of = [](const std::filesystem::path&) -> std::optional<std::uint64_t> {
              return std::uint64_t(8) << 30;
            }};
  }

  Findings about(std::string_view what) const {
    Findings found;
    for (const Finding& finding : examined(patient()))
      if (finding.about == what) found.push_back(finding);
    return found;
  }

  Finding only(std::string_view what) const {
    const Findings found = about(what);
    EXPECT_EQ(found.size(), 1u) << what;
    return found.empty() ? Finding{State::ok, "", "nothing"} : found.front();
  }
};

TEST(Doctor, OfAHealthyMachineNothingIsWrong) {
  const Healthy healthy;
  for (const Finding& finding : examined(healthy.patient())) {
    if (finding.about == "RAPL") continue;  // it has none
    EXPECT_EQ(finding.state, State::ok) << finding.about << ": " << finding.what;
  }
  EXPECT_THAT(healthy.only("processor").what, HasSubstr("Made up: 4 logical processors online"));
  EXPECT_THAT(healthy.only("memory").what, HasSubstr("16.0 GiB"));
  EXPECT_THAT(healthy.only("training").what, HasSubstr("libtorch 1.13.1"));
  EXPECT_THAT(healthy.only("MPI").what, HasSubstr("Open MPI) 4.1.4; it starts two ranks"));
}

TEST(Doctor, FewerProcessorsThanOnlineIsSaid) {
  const Healthy healthy;
  Patient patient = healthy.patient();
  patient.processors = {0, 2};
  const Findings findings = machine_findings(patient);
  EXPECT_THAT(findings, testing::Contains(testing::Field(
                            &Finding::what, HasSubstr("2 of 4 logical processors: 0,2"))));
  EXPECT_THAT(healthy.about("affinity"), IsEmpty());
}

TEST(Doctor, LimitsOfTheControlGroupOfBothVersions) {
  Healthy healthy;
  healthy.tree.write("proc/self/cgroup", "0::/job\n");
  healthy.tree.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  EXPECT_THAT(healthy.only("limits").what, HasSubstr("1.5 processors' time, of 4"));
  healthy.tree.write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_THAT(healthy.about("limits"), IsEmpty());
  healthy.tree.write("proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/old\n");
  healthy.tree.write("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "200000\n");
  healthy.tree.write("sys/fs/cgroup/cpu/old/cpu.cfs_period_us", "100000\n");
  EXPECT_THAT(healthy.only("limits").what, HasSubstr("2.0 processors' time, of 4"));
  healthy.tree.write("sys/fs/cgroup/cpu/old/cpu.cfs_quota_us", "-1\n");
  EXPECT_THAT(healthy.about("limits"), IsEmpty());
}

TEST(Doctor, SharedMemoryThatIsSmallOrMissing) {
  const Healthy healthy;
  Patient patient = healthy.patient();
  patient.size_of = [](const auto&) { return std::optional<std::uint64_t>(64u << 20); };
  const auto shm = [&] {
    for (const Finding& finding : machine_findings(patient))
      if (finding.about == "shared memory") return finding;
    return Finding{};
  };
  EXPECT_EQ(shm().state, State::worth_knowing);
  EXPECT_THAT(shm().remedy, HasSubstr("--shm-size"));
  patient.size_of = [](const auto&) { return std::optional<std::uint64_t>(); };
  EXPECT_EQ(shm().state, State::wrong);
}

TEST(Doctor, ASlowClockAndAGovernorThatSaves) {
  Healthy healthy;
  healthy.tree.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  healthy.tree.write("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(healthy.only("clock").state, State::worth_knowing);
  EXPECT_THAT(healthy.only("governor").what, HasSubstr("performance, powersave"));
  EXPECT_EQ(healthy.only("governor").state, State::worth_knowing);
}

TEST(Doctor, WithoutProcItSaysSo) {
  const Healthy healthy;
  Patient patient = healthy.patient();
  patient.proc = healthy.tree.root() / "nothing";
  EXPECT_EQ(machine_findings(patient).front().state, State::wrong);
  EXPECT_NO_THROW(examined(patient));
}

TEST(Doctor, ASlowKernelOfBlasIsNamedWithTheVariable) {
  Healthy healthy;
  healthy.answers["train --backend"].output =
      written(BackendFacts{.torch = "1.13.1", .blas = "OpenBLAS 0.3.21", .kernel = "Prescott"});
  EXPECT_EQ(healthy.only("BLAS").state, State::worth_knowing);
  EXPECT_EQ(healthy.only("BLAS").remedy, "export OPENBLAS_CORETYPE=Haswell");
}

TEST(Doctor, ATrainProgramThatDoesNotStartIsWrongInItsOwnWords) {
  Healthy healthy;
  healthy.answers["train --backend"] = {
      .how = Answer::How::ended,
      .exit = {.code = 127, .signal = {}},
      .errors = "parajoule-train: error while loading shared libraries: libtorch_cpu.so\n"};
  EXPECT_EQ(healthy.only("training").state, State::wrong);
  EXPECT_THAT(healthy.only("training").what, HasSubstr("libtorch_cpu.so"));
  std::filesystem::remove(healthy.tree.root() / "train");
  EXPECT_EQ(healthy.only("training").state, State::worth_knowing);
}

TEST(Doctor, MpiThatIsMissingOrDoesNotStartOrHangs) {
  Healthy healthy;
  healthy.answers["mpirun true"] = {.how = Answer::How::ended,
                                    .exit = {.code = 1, .signal = {}},
                                    .errors = "------\nNo slots are left\n------\n"};
  EXPECT_EQ(healthy.only("MPI").state, State::wrong);
  EXPECT_THAT(healthy.only("MPI").what, HasSubstr("status 1: No slots are left"));
  healthy.answers["mpirun true"] = {.how = Answer::How::late};
  EXPECT_THAT(healthy.only("MPI").what, HasSubstr("did not come to an end in time"));
  healthy.answers.erase("mpirun --version");
  EXPECT_EQ(healthy.only("MPI").state, State::worth_knowing);
}

TEST(Doctor, CountersThatAreClosedAndTheCapabilityThatDoesNotHelp) {
  Healthy healthy;
  healthy.tree.zone("sys/class/powercap/intel-rapl:0", "package-0", 1);
  healthy.tree.zone("sys/class/powercap/intel-rapl:1", "package-1", 1);
  EXPECT_EQ(healthy.only("RAPL").state, State::ok);
  const auto counter = healthy.tree.root() / "sys/class/powercap/intel-rapl:1/energy_uj";
  ASSERT_EQ(::chmod(counter.c_str(), 0), 0);
  // CAP_DAC_READ_SEARCH is number 2.
  healthy.tree.write("proc/self/status", "Name:\tx\nCapEff:\t0\nCapBnd:\t0000000000000004\n");
  const meter::Nobody nobody;
  ASSERT_FALSE(nobody.failed());
  EXPECT_EQ(healthy.only("RAPL").state, State::worth_knowing);
  EXPECT_THAT(healthy.only("RAPL").remedy, HasSubstr("sudo chmod a+r"));
  EXPECT_THAT(healthy.only("capabilities").what,
              HasSubstr("cap_dac_read_search is in the bounding set only"));
  EXPECT_TRUE(admin_lines(healthy.patient())[0].needed);
}

TEST(Doctor, PerfIsClosedByParanoiaUnlessACapabilityIsInForce) {
  Healthy healthy;
  healthy.tree.write("sys/bus/event_source/devices/power/type", "24\n");
  healthy.tree.write("proc/sys/kernel/perf_event_paranoid", "4\n");
  EXPECT_THAT(healthy.only("perf_event").what, HasSubstr("perf_event_paranoid = 4"));
  EXPECT_THAT(healthy.about("capabilities"), IsEmpty());
  // CAP_PERFMON is number 38.
  healthy.tree.write("proc/self/status", "Name:\tx\nCapEff:\t0\nCapBnd:\t0000004000000000\n");
  EXPECT_THAT(healthy.only("capabilities").what, HasSubstr("cap_perfmon is in the bounding set"));
  EXPECT_THAT(healthy.only("capabilities").remedy, HasSubstr("setcap cap_perfmon+ep"));
  healthy.tree.write("proc/self/status",
                     "Name:\tx\nCapEff:\t0000004000000000\nCapBnd:\t0000004000000000\n");
  EXPECT_EQ(healthy.only("perf_event").state, State::ok);
  EXPECT_THAT(healthy.about("capabilities"), IsEmpty());
  healthy.tree.write("proc/self/status", "Name:\tx\n");
  healthy.tree.write("proc/sys/kernel/perf_event_paranoid", "-1\n");
  EXPECT_EQ(healthy.only("perf_event").state, State::ok);
}

TEST(Doctor, ADriverWithoutItsLibraryIsWrong) {
  Healthy healthy;
  EXPECT_THAT(healthy.about("NVIDIA"), IsEmpty());
  healthy.tree.write("proc/driver/nvidia/version",
                     "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat\n");
  EXPECT_EQ(healthy.only("NVIDIA").state, State::wrong);
  EXPECT_THAT(healthy.only("NVIDIA").what, HasSubstr("driver 535.161.08, but NVML does not"));
}

TEST(Doctor, ALibraryOfAnotherVersionThanTheDriverIsNamedWithTheWayOut) {
  void* const stub = ::dlopen(NVML_STUB, RTLD_NOW);
  ASSERT_NE(stub, nullptr);
  auto* const nvml = static_cast<meter::NvmlStub*>(::dlsym(stub, "nvml_stub"));
  *nvml = meter::NvmlStub();
  nvml->init_result = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
  Healthy healthy;
  healthy.tree.write("sys/module/nvidia/version", "535.161.08\n");
  healthy.nvml = NVML_STUB;
  EXPECT_EQ(healthy.only("NVIDIA").state, State::wrong);
  EXPECT_THAT(healthy.only("NVIDIA").what,
              HasSubstr("driver 535.161.08, but the library is of another version"));
  EXPECT_THAT(healthy.only("NVIDIA").remedy, HasSubstr("restart the machine"));
  nvml->init_result = 0;
  EXPECT_EQ(healthy.only("NVIDIA").state, State::ok);
  ::dlclose(stub);
}

TEST(Doctor, InAJobOfManyNodesTheBatchScriptIsNotAllOfIt) {
  Healthy healthy;
  EXPECT_THAT(healthy.about("Slurm"), IsEmpty());
  healthy.variables = {
      {"SLURM_JOB_ID", "42"}, {"SLURM_JOB_NUM_NODES", "4"}, {"SLURM_JOB_NODELIST", "n[1-4]"}};
  const Findings found = healthy.about("Slurm");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(found[0].what, HasSubstr("job 42 on 4 nodes (n[1-4]), in the batch script"));
  EXPECT_THAT(found[1].remedy, HasSubstr("srun --ntasks-per-node=1"));
  healthy.variables.emplace("SLURM_STEP_ID", "0");
  EXPECT_EQ(healthy.about("Slurm").size(), 1u);
}

TEST(Doctor, TextFitsCountsAndCannotSteerTheTerminal) {
  const Findings findings = {{State::ok, "a", "well"},
                             {State::worth_knowing, "b", "so and \x1b[2J so", "do this\nand that"},
                             {State::wrong, "c", std::string(200, 'x')}};
  std::istringstream lines(doctor_text(findings, 60, Look::plain));
  std::string last;
  for (std::string line; std::getline(lines, line); last = line) {
    EXPECT_LE(columns_of(line), 60u) << line;
    EXPECT_THAT(line, Not(HasSubstr("\x1b")));
  }
  EXPECT_EQ(last, "1 ok, 1 worth knowing, 1 wrong");
  const auto json = nlohmann::json::parse(doctor_json(findings));
  EXPECT_EQ(json.at("version"), 1);
  EXPECT_EQ(json.at("wrong"), 1);
  EXPECT_EQ(json.at("findings").at(1).at("state"), "worth knowing");
}

TEST(Doctor, ForAnAdministratorItPrintsAScriptOfWhatIsNeeded) {
  Healthy healthy;
  healthy.tree.write("sys/bus/event_source/devices/power/type", "24\n");
  healthy.tree.write("proc/sys/kernel/perf_event_paranoid", "2\n");
  const auto lines = admin_lines(healthy.patient());
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_FALSE(lines[0].needed);
  EXPECT_TRUE(lines[1].needed);
  const std::string text = admin_text(lines);
  EXPECT_THAT(text, HasSubstr("\necho 'kernel.perf_event_paranoid = 0' | sudo tee"));
  EXPECT_THAT(text, HasSubstr("\n#   echo 'SUBSYSTEM==\"powercap\""));
  EXPECT_EQ(nlohmann::json::parse(admin_json(lines)).at("lines").size(), 4u);
}

TEST(Asked, AnAnswerItsEndAndATimeLimit) {
  const Answer well = asked({.words = {"sh", "-c", "echo out; echo err >&2"}}, Seconds(60));
  EXPECT_TRUE(well.well());
  EXPECT_EQ(well.output, "out\n");
  EXPECT_EQ(well.errors, "err\n");
  EXPECT_EQ(asked({.words = {"sh", "-c", "exit 7"}}, Seconds(60)).exit.code, 7);
  EXPECT_EQ(asked({.words = {"/no/such/program"}}, Seconds(60)).how, Answer::How::not_found);
  EXPECT_EQ(asked({.words = {"sleep", "1000"}}, Seconds(0)).how, Answer::How::late);
  std::vector<std::string> waited;
  const auto when_slow = [&](const Command& command, Seconds) {
    waited.push_back(command.words[0]);
  };
  EXPECT_EQ(asked({.words = {"true"}}, Seconds(60), when_slow).exit.code, 0);
  EXPECT_TRUE(waited.empty());
  EXPECT_EQ(asked({.words = {"sleep", "1000"}}, Seconds(1.5), when_slow).how, Answer::How::late);
  EXPECT_EQ(waited, std::vector<std::string>{"sleep"});
  // More than a pipe holds.
  const Answer much = asked({.words = {"sh", "-c", "head -c 300000 /dev/zero"}}, Seconds(60));
  EXPECT_EQ(much.output.size(), 300'000u);
}

}  // namespace
}  // namespace parajoule::cli
