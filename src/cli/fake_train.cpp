// Stands in for parajoule-train in the tests of the launcher: what it does stands in FAKE, and no
// torch and no MPI is needed to do it.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>

#include <signal.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/notes.h"
#include "cli/run_folder.h"
#include "cli/standing.h"

namespace {

using namespace parajoule;
using namespace std::chrono_literals;

volatile sig_atomic_t asked_to_stop = 0;

std::string variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

int number(const char* name, const char* otherwise) { return std::stoi(variable(name, otherwise)); }

void listen() {
  struct sigaction action {};
  action.sa_handler = [](int) { asked_to_stop = 1; };
  sigaction(SIGUSR1, &action, nullptr);
}

int check(const std::string& act) {
  if (act == "refuse") {
    std::cerr << "parajoule: x.toml:1: epochs = 0: must be at least 1\n";
    return 2;
  }
  if (act == "slow check") std::this_thread::sleep_for(1s);
  const auto folder = cli::choose_run_folder(
      "checkpoints", {.name = "fake", .settings = act + "\n"}, cli::Begin::resume_if_possible);
  cli::LaunchFacts facts{.ranks = number("FAKE_RANKS", "1"),
                         .threads = 3,
                         .ranks_on_node = number("FAKE_RANKS", "1"),
                         .node_cores = number("FAKE_CORES", "2"),
                         .folder = folder.path};
  facts.environment = {{"OPENBLAS_NUM_THREADS", "3"}};
  facts.remarks = {variable("FAKE_REMARK", "")};
  std::cout << cli::written(facts);
  return 0;
}

/// Waits until it is told to stop, or for ever.
int stop(cli::OwnNote& note) {
  while (!asked_to_stop) std::this_thread::sleep_for(20ms);
  note.stopped("after step 12");
  return 0;
}

int sleep_for_ever() {
  while (true) std::this_thread::sleep_for(1s);
}

void speak(int rank) {
  if (rank != 0) return;
  std::cout << cli::message({.epoch = 1, .epochs = 2, .step = 3, .steps = 4, .loss = 0.5}) << '\n'
            << "a word for a person" << std::endl;
  std::cerr << "a warning" << std::endl;
}

/// The rank named by FAKE_RANK does `act`; the others wait for their end.
int act_on_one(const std::string& act, int rank, cli::OwnNote& note) {
  const int chosen = number("FAKE_RANK", "1");
  if (act == "fail" && rank == chosen) {
    note.failed(base::Fault::input, "pictures/a.jpg is cut short");
    return 2;
  }
  if (act == "die" && rank == chosen) raise(SIGKILL);
  if (act == "noticed" && rank == chosen) raise(SIGKILL);
  if (act != "noticed") return sleep_for_ever();
  std::this_thread::sleep_for(500ms);
  note.failed(base::Fault::peer, "rank " + std::to_string(chosen) + " is gone");
  return 4;
}

void repeat(int count, char** words) {
  for (int i = 1; i < count; ++i) std::cout << '<' << words[i] << ">\n";
  std::cout << "threads " << variable("OPENBLAS_NUM_THREADS", "none") << '\n';
}

int play(const std::string& act, int rank, const std::string& folder, int count, char** words) {
  if (act == "late") std::this_thread::sleep_for(1500ms);
  if (act != "deaf") listen();
  cli::OwnNote note(cli::notes_in(folder), rank);
  if (act.starts_with("speak")) speak(rank);
  if (act == "stop" || act == "late" || act == "speak and stop") return stop(note);
  if (act == "deaf") return sleep_for_ever();
  if (act == "repeat") repeat(count, words);
  if (act == "fail" || act == "die" || act == "noticed") return act_on_one(act, rank, note);
  note.ended();
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const std::string act = variable("FAKE", "end");
  std::string folder;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--check") return check(act);
    if (word.starts_with("--run=")) folder = word.substr(6);
  }
  if (folder.empty()) {
    std::cout << "started directly\n";
    if (act == "repeat") repeat(count, words);
    return 0;
  }
  return play(act, number("OMPI_COMM_WORLD_RANK", "0"), folder, count, words);
}
