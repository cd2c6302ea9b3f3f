// The launcher itself, bin/parajoule, with a stand-in for parajoule-train beside it.

#include "cli/launch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// `parajoule train` in a folder of its own.
class Launched {
 public:
  using Variables = std::map<std::string, std::string>;

  Launched(const fs::path& folder, Variables variables, std::vector<std::string> more = {})
      : folder_(folder) {
    process_ = fork();
    if (process_ == 0) become_launcher(variables, std::move(more));
  }
  ~Launched() {
    if (!ended_) kill(process_, SIGKILL);
    if (!ended_) waitpid(process_, nullptr, 0);
  }

  void tell(int signal) { kill(process_, signal); }

  /// Once rank `rank` has left its first note.
  void wait_for(int rank) {
    const std::string name = "rank" + std::to_string(rank);
    for (int i = 0; i < 1000; ++i) {
      std::error_code error;
      for (const auto& entry : fs::recursive_directory_iterator(folder_ / "checkpoints", error)) {
        if (entry.path().filename() == name) return;
      }
      std::this_thread::sleep_for(10ms);
    }
    FAIL() << "rank " << rank << " did not start: " << errors();
  }

  int status() {
    int status = 0;
    waitpid(process_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  std::string output() const { return text_of(folder_ / "output"); }
  std::string errors() const { return text_of(folder_ / "errors"); }

 private:
  [[noreturn]] void become_launcher(const Variables& variables, std::vector<std::string> more) {
    if (chdir(folder_.c_str()) != 0) _exit(99);
    dup2(open("output", O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    dup2(open("errors", O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    // Whatever the tests run under; `nohup` is played by a variable.
    for (int signal_number : {SIGHUP, SIGINT}) {
      signal(signal_number, variables.contains("NOHUP") ? SIG_IGN : SIG_DFL);
    }
    std::vector<std::string> words = {PARAJOULE_WITH_FAKE, "train", "x.toml"};
    std::ranges::move(more, std::back_inserter(words));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(pointers[0], pointers.data());
    _exit(98);
  }

  fs::path folder_;
  pid_t process_;
  bool ended_ = false;
};

class Launcher : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(testing::TempDir()) / "launchXXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(Launcher, OneRankNeedsNoMpirun) {
  Launched run(folder_, {{"FAKE", "end"}, {"PATH", "/nowhere"}});
  EXPECT_EQ(run.status(), 0) << run.errors();
  EXPECT_EQ(run.errors(), "");
}

TEST_F(Launcher, RefusalsOfTheCheckStartNothing) {
  Launched run(folder_, {{"FAKE", "refuse"}});
  EXPECT_EQ(run.status(), 2);
  EXPECT_EQ(run.errors(), "parajoule: x.toml:1: epochs = 0: must be at least 1\n");
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints"));
}

TEST_F(Launcher, AMissingMpirunIsNamedWithItsPackage) {
  Launched run(folder_, {{"FAKE", "end"}, {"FAKE_RANKS", "2"}, {"PATH", "/nowhere"}});
  EXPECT_EQ(run.status(), 3);
  EXPECT_THAT(run.errors(), HasSubstr("apt-get install openmpi-bin"));
}

TEST_F(Launcher, OnlyAMissingMpirunAsksForThePackage) {
  std::ofstream(folder_ / "mpirun") << "not a program\n";  // and not marked as one
  Launched run(folder_, {{"FAKE", "end"}, {"FAKE_RANKS", "2"}, {"PATH", folder_.string()}});
  EXPECT_EQ(run.status(), 3);
  EXPECT_THAT(run.errors(), HasSubstr("cannot start mpirun: Permission denied"));
  EXPECT_THAT(run.errors(), Not(HasSubstr("apt-get")));
}

TEST_F(Launcher, AFolderThatIsMovedAwayIsNamedAndKeepsNobodyFromStopping) {
  Launched run(folder_, {{"FAKE", "stop"}});
  run.wait_for(0);
  fs::rename(folder_ / "checkpoints", folder_ / "elsewhere");
  run.tell(SIGTERM);
  EXPECT_EQ(run.status(), 3) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("the run's folder was moved or removed"));
}

TEST_F(Launcher, AFullDiskBehindStandardOutputIsNamed) {
  fs::create_symlink("/dev/full", folder_ / "output");
  Launched run(folder_, {{"FAKE", "speak and stop"}});
  EXPECT_EQ(run.status(), 75) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("standard output takes no more: stopping after"));
}

TEST_F(Launcher, HandsOnArgumentsOfAnyBytes) {
  Launched run(folder_, {{"FAKE", "repeat"}}, {"--set", "name=\xff\xfe x", "--ranks", "1"});
  EXPECT_EQ(run.status(), 0) << run.errors();
  EXPECT_THAT(run.output(), HasSubstr("<--set=name=\xff\xfe x>"));
  EXPECT_THAT(run.output(), HasSubstr("<--ranks=1>"));
  EXPECT_THAT(run.output(), HasSubstr("<x.toml>"));
  EXPECT_THAT(run.output(), HasSubstr("threads 3"));
}

TEST_F(Launcher, HandsOnTheMetersThatAreNamed) {
  Launched run(folder_, {{"FAKE", "repeat"}, {"PARAJOULE_METERS", "by the environment.toml"}},
               {"--wall", "a.csv", "--wall", "b.csv", "--redfish", "https://{host}-bmc",
                "--credentials", "secret"});
  EXPECT_EQ(run.status(), 0) << run.errors();
  for (const char* word : {"--meters=by the environment.toml", "--wall=a.csv", "--wall=b.csv",
                           "--redfish=https://{host}-bmc", "--credentials=secret", "x.toml"})
    EXPECT_THAT(run.output(), HasSubstr(fmt::format("<{}>", word)));
  Launched other(folder_, {{"FAKE", "repeat"}, {"PARAJOULE_METERS", "environment.toml"}},
                 {"--meters", "given.toml"});
  EXPECT_EQ(other.status(), 0) << other.errors();
  EXPECT_THAT(other.output(), HasSubstr("<--meters=given.toml>"));
}

TEST_F(Launcher, AFileShowsPlainLines) {
  Launched run(folder_, {{"FAKE", "speak"}, {"FAKE_RANKS", "2"}, {"FAKE_REMARK", "by the way"}});
  EXPECT_EQ(run.status(), 0) << run.errors();
  EXPECT_EQ(run.output(), "epoch 1/2 step 3/4 loss 0.500\na word for a person\n");
  EXPECT_EQ(run.errors(), "parajoule: by the way\na warning\n");
}

/// Sent to a launcher of so many ranks, once they all run.
struct Request {
  int signal;
  const char* ranks;
};

class AnyRequest : public Launcher, public testing::WithParamInterface<Request> {};

TEST_P(AnyRequest, IsAStop) {
  Launched run(folder_, {{"FAKE", "stop"}, {"FAKE_RANKS", GetParam().ranks}});
  run.wait_for(0);
  run.tell(GetParam().signal);
  EXPECT_EQ(run.status(), 75) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("stopped after step 12"));
}

INSTANTIATE_TEST_SUITE_P(Signals, AnyRequest,
                         testing::Values(Request{SIGTERM, "2"}, Request{SIGUSR1, "2"},
                                         Request{SIGHUP, "1"}, Request{SIGINT, "1"},
                                         Request{SIGUSR1, "1"}));

TEST_F(Launcher, UnderNohupATerminalThatClosesIsNoStop) {
  Launched run(folder_, {{"FAKE", "stop"}, {"NOHUP", "1"}});
  run.wait_for(0);
  run.tell(SIGHUP);
  run.tell(SIGINT);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(run.errors(), "");
  run.tell(SIGTERM);
  EXPECT_EQ(run.status(), 75) << run.errors();
}

TEST_F(Launcher, AStopBeforeTheRanksListenIsNotLost) {
  Launched run(folder_, {{"FAKE", "late"}, {"FAKE_RANKS", "2"}});
  std::this_thread::sleep_for(700ms);
  run.tell(SIGTERM);
  EXPECT_EQ(run.status(), 75) << run.errors();
}

TEST_F(Launcher, AStopDuringTheCheckStartsNothing) {
  Launched run(folder_, {{"FAKE", "slow check"}});
  std::this_thread::sleep_for(300ms);
  run.tell(SIGUSR1);
  EXPECT_EQ(run.status(), 75) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("before the ranks were started"));
}

class SecondInterrupt : public Launcher, public testing::WithParamInterface<const char*> {};

TEST_P(SecondInterrupt, Kills) {
  Launched run(folder_, {{"FAKE", "deaf"}, {"FAKE_RANKS", GetParam()}});
  run.wait_for(0);
  run.tell(SIGINT);
  std::this_thread::sleep_for(200ms);
  run.tell(SIGINT);
  EXPECT_EQ(run.status(), 4) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("killed before all ranks had stopped"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, SecondInterrupt, testing::Values("1", "2"));

TEST_F(Launcher, TheFirstCauseIsNamedWithItsRank) {
  Launched run(folder_, {{"FAKE", "fail"}, {"FAKE_RANKS", "3"}, {"FAKE_RANK", "2"}});
  EXPECT_EQ(run.status(), 2);
  EXPECT_EQ(run.errors(), "parajoule: rank 2: pictures/a.jpg is cut short\n");
}

TEST_F(Launcher, ARankThatIsKilledIsNamed) {
  Launched run(folder_, {{"FAKE", "noticed"}, {"FAKE_RANKS", "2"}});
  EXPECT_EQ(run.status(), 4);
  EXPECT_THAT(run.errors(), HasSubstr("rank 1 died"));
  EXPECT_EQ(std::ranges::count(run.errors(), '\n'), 1) << run.errors();
}

TEST_F(Launcher, AloneARankThatIsKilledIsNamedToo) {
  Launched run(folder_, {{"FAKE", "die"}, {"FAKE_RANK", "0"}});
  EXPECT_EQ(run.status(), 4);
  EXPECT_THAT(run.errors(), HasSubstr("rank 0 died"));
  EXPECT_THAT(run.errors(), HasSubstr("signal 9"));
}

TEST_F(Launcher, RanksDoNotOutliveALauncherThatIsKilled) {
  Launched run(folder_, {{"FAKE", "deaf"}, {"FAKE_RANKS", "2"}});
  run.wait_for(1);
  pid_t rank = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.path().filename() == "rank1") {
      rank = read_notes(entry.path().parent_path(), 2)[1]->process;
    }
  }
  ASSERT_GT(rank, 0);
  run.tell(SIGKILL);
  EXPECT_EQ(run.status(), 1000 + SIGKILL);
  for (int i = 0; i < 1500 && kill(rank, 0) == 0; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_NE(kill(rank, 0), 0);
}

TEST_F(Launcher, TwoAtOnceDoNotDisturbEachOther) {
  Launched first(folder_, {{"FAKE", "stop"}, {"FAKE_RANKS", "2"}});
  first.wait_for(1);
  const fs::path other = folder_ / "other";
  fs::create_directory(other);
  fs::create_symlink(folder_ / "checkpoints", other / "checkpoints");
  Launched second(other, {{"FAKE", "stop"}, {"FAKE_RANKS", "2"}});
  std::this_thread::sleep_for(1s);
  second.tell(SIGTERM);
  EXPECT_EQ(second.status(), 75) << second.errors();
  first.tell(SIGTERM);
  EXPECT_EQ(first.status(), 75) << first.errors();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "checkpoints"), {}), 2);
}

TEST_F(Launcher, MpirunsOwnWordsAreShown) {
  Launched run(folder_, {{"FAKE", "end"},
                         {"FAKE_RANKS", "2"},
                         {"OMPI_MCA_rmaps_base_mapping_policy", ""},
                         {"OMPI_MCA_rmaps", "nonsense"}});
  EXPECT_EQ(run.status(), 3) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("nonsense"));
  EXPECT_THAT(run.errors(), HasSubstr("mpirun could not start the ranks"));
}

TEST_F(Launcher, UnderSrunOrMpirunThePlaceOfTheLauncherIsTheRanks) {
  Launched run(folder_,
               {{"FAKE", "end"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_EQ(run.status(), 0);
  EXPECT_EQ(run.output(), "started directly\n");
}

TEST_F(Launcher, HandsRanksThatSomeoneElseStartedAllItWasTold) {
  Launched run(folder_,
               {{"FAKE", "repeat"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
               {"--fresh", "--check-collectives"});
  EXPECT_EQ(run.status(), 0);
  EXPECT_THAT(run.output(), HasSubstr("<--fresh>"));
  EXPECT_THAT(run.output(), HasSubstr("<--set=check_collectives=true>"));
}

TEST_F(Launcher, AnSrunOfSingletonsIsRefusedOnce) {
  for (const char* rank : {"0", "1"}) {
    Launched run(folder_,
                 {{"SLURM_PROCID", rank}, {"SLURM_STEP_ID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
    EXPECT_EQ(run.status(), 3);
    EXPECT_THAT(run.errors(), HasSubstr(*rank == '0' ? "--mpi=pmix" : ""));
    EXPECT_EQ(std::ranges::count(run.errors(), '\n'), *rank == '0' ? 1 : 0);
  }
}

TEST_F(Launcher, AStepOfOneTaskStartsItsRanksItself) {
  Launched run(folder_, {{"FAKE", "speak"},
                         {"FAKE_RANKS", "2"},
                         {"SLURM_PROCID", "0"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_STEP_NUM_TASKS", "1"}});
  EXPECT_EQ(run.status(), 0) << run.errors();
  EXPECT_THAT(run.output(), HasSubstr("epoch 1/2 step 3/4"));
}

TEST_F(Launcher, TorchrunIsRefusedAtOnce) {
  Launched run(folder_, {{"RANK", "0"}, {"WORLD_SIZE", "2"}});
  EXPECT_EQ(run.status(), 3);
  EXPECT_THAT(run.errors(), HasSubstr("torchrun"));
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints"));
}

TEST(Starter, BindsEvenSharesOfTheCoresUnlessOpenMpiWasTold) {
  const char* const policy = "OMPI_MCA_hwloc_base_binding_policy";
  const char* const told = getenv(policy);
  const std::string before = told ? told : "";
  unsetenv(policy);
  const auto words = [](int ranks, int on_node, int cores) {
    std::string line;
    for (const auto& word :
         starter({.ranks = ranks, .ranks_on_node = on_node, .node_cores = cores}, {"p"}).words) {
      line += word + " ";
    }
    return line;
  };
  EXPECT_EQ(words(1, 1, 2), "p ");
  EXPECT_THAT(words(2, 2, 2), HasSubstr("--map-by slot:PE=1 --bind-to core"));
  EXPECT_THAT(words(2, 2, 9), HasSubstr("--map-by slot:PE=4 --bind-to core"));
  EXPECT_THAT(words(3, 3, 2), HasSubstr("--bind-to none"));
  EXPECT_THAT(words(8, 4, 8), HasSubstr("--map-by slot:PE=2 --bind-to core"));
  EXPECT_THAT(words(2, 2, 2), HasSubstr("mpirun -q --mca odls_base_sigkill_timeout 3"));
  setenv(policy, "none", 1);
  EXPECT_THAT(words(2, 2, 2), Not(HasSubstr("bind")));
  if (told)
    setenv(policy, before.c_str(), 1);
  else
    unsetenv(policy);
}

TEST(LaunchFacts, ComeBackFromTheirText) {
  LaunchFacts facts{.ranks = 3, .threads = 2, .node_cores = 7, .folder = "a\n\xff b"};
  facts.environment = {{"A", "1"}, {"B", "two words"}};
  facts.remarks = {"look", "and see"};
  EXPECT_EQ(written(facts_in(written(facts))), written(facts));
  EXPECT_EQ(facts_in(written(facts)).folder, facts.folder);
  EXPECT_EQ(facts_in(written(facts)).remarks, facts.remarks);
}

}  // namespace
}  // namespace parajoule::cli
