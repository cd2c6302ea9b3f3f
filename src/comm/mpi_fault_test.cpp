// Under mpirun, one rank breaks: the others learn of it, the job ends, nothing is left behind.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "base/quantity.h"

namespace parajoule::comm {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ended {
  std::string output;
  int status = 0;
  base::Seconds seconds{0};
};

Ended run(const std::string& ranks, const std::string& arguments) {
  // mpirun starts nothing for root, as which containers run, unless it is told twice.
  const std::string command =
      std::string("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ") + MPIRUN +
      " --mca odls_base_sigkill_timeout 1 -n " + ranks + " " + MPI_FAULT + " " + arguments +
      " 2>&1";
  Ended ended;
  const auto begin = std::chrono::steady_clock::now();
  FILE* output = popen(command.c_str(), "r");
  for (int letter = 0; (letter = fgetc(output)) != EOF;) ended.output += char(letter);
  ended.status = WEXITSTATUS(pclose(output));
  ended.seconds = std::chrono::steady_clock::now() - begin;
  return ended;
}

void nothing_is_left() {
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    EXPECT_THAT(entry.path().string(), Not(testing::ContainsRegex("parajoule-[0-9a-f]{16}-")));
  }
}

TEST(MpiFault, ARankThatThrowsIsNamedToAll) {
  for (const char* per_node : {"4", "1"}) {
    const Ended ended = run("4", std::string("throw 2 ") + per_node);
    for (const char* rank : {"0", "1", "3"}) {
      EXPECT_THAT(ended.output,
                  HasSubstr(std::string("rank ") + rank + " was told: rank 2 failed: disk full\n"));
    }
    EXPECT_THAT(ended.output, HasSubstr("rank 2 was told: disk full\n"));
    EXPECT_NE(ended.status, 0);
    EXPECT_LT(ended.seconds, base::Seconds(10));
  }
  nothing_is_left();
}

TEST(MpiFault, ARankThatIsKilledIsNamedToAll) {
  const Ended ended = run("4", "kill 3 2");
  for (const char* rank : {"0", "1", "2"}) {
    EXPECT_THAT(ended.output, HasSubstr(std::string("rank ") + rank +
                                        " was told: rank 3 died: its process is gone\n"));
  }
  EXPECT_NE(ended.status, 0);
  EXPECT_LT(ended.seconds, base::Seconds(10));
  nothing_is_left();
}

TEST(MpiNodes, AreToldApartByNameAndPretence) {
  const Ended pretended = run("3", "nodes 0 2");
  EXPECT_THAT(pretended.output, HasSubstr("rank 1 is on node 0 of 2\n"));
  EXPECT_THAT(pretended.output, HasSubstr("rank 2 is on node 1 of 2\n"));
  const std::string one = std::string(MPI_FAULT) + " nodes 0";
  const Ended named = run("2 env PARAJOULE_NODE=b", "nodes 0 : -n 1 env PARAJOULE_NODE=a " + one);
  EXPECT_EQ(named.status, 0);
  EXPECT_THAT(named.output, HasSubstr("rank 0 is on node 0 of 2\n"));
  EXPECT_THAT(named.output, HasSubstr("rank 1 is on node 0 of 2\n"));
  EXPECT_THAT(named.output, HasSubstr("rank 2 is on node 1 of 2\n"));
}

TEST(MpiFault, WithoutSharedMemoryNobodyStarts) {
  const Ended ended = run("2", "shm 0");
  EXPECT_THAT(ended.output, HasSubstr("was told: rank 0: shared memory /nowhere/parajoule-"));
  EXPECT_NE(ended.status, 0);
}

}  // namespace
}  // namespace parajoule::comm
