#include "cli/launch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/fields.h"

namespace parajoule::cli {
namespace {

constexpr std::string_view mpirun = "mpirun";
constexpr int tell_again_milliseconds = 250;

/// Hands on the whole lines of a stream.
class Lines {
 public:
  template <class Sink>
  void add(std::string_view text, Sink&& sink) {
    rest_ += text;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest_.find('\n', begin)) != rest_.npos; begin = end + 1) {
      sink(std::string_view(rest_).substr(begin, end - begin));
    }
    rest_.erase(0, begin);
  }

 private:
  std::string rest_;
};

/// The ranks under way.
class Running {
 public:
  Running(const Command& command, const Seat& seat)
      : signals_(seat.signals),
        live_(seat.live),
        listening_(seat.listening),
        child_(command),
        under_mpirun_(command.words[0] == mpirun) {}

  Ended to_the_end() {
    while (!child_.ended()) {
      wait_for_something();
      for (int signal; (signal = signals_.next()) != 0;) take(signal);
      relay();
      if (!live_.has_reader()) stop("standard output takes no more: ");
      // Told too early a rank would die of it.
      if (stopping_ && !killed_ && listening_()) child_.tell(SIGUSR1);
    }
    relay();
    live_.finish();
    return {*child_.ended(), killed_};
  }

 private:
  void wait_for_something() {
    std::array<pollfd, 3> files{};
    files[0] = {signals_.file(), POLLIN, 0};
    for (auto stream : {Child::output, Child::errors}) {
      files[1 + stream] = {open_[stream] ? child_.pipe_of(stream) : -1, POLLIN, 0};
    }
    poll(files.data(), files.size(), stopping_ ? tell_again_milliseconds : -1);
  }

  void take(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGINT && stopping_) kill_ranks();
    stop("");
  }

  /// mpirun kills its ranks when it is told to end; whoever insists once more leaves it no time.
  void kill_ranks() {
    if (killed_ || !under_mpirun_) {
      child_.kill_group();
    } else {
      child_.tell(SIGTERM);
    }
    killed_ = true;
  }

  void stop(std::string_view why) {
    if (stopping_) return;
    stopping_ = true;
    tell_person(
        fmt::format("{}stopping after the step under way; interrupt once more to kill", why));
  }

  void relay() {
    relay(Child::output);
    relay(Child::errors);
  }

  void relay(Child::Stream stream) {
    while (open_[stream]) {
      const auto text = child_.read(stream);
      if (!text) open_[stream] = false;
      if (!text || text->empty()) return;
      lines_[stream].add(*text, [&](std::string_view line) { hand_on(stream, line); });
    }
  }

  void hand_on(Child::Stream stream, std::string_view line) {
    if (stream == Child::errors) return tell_person(line);
    if (const auto standing = parse_standing(line)) return live_.show(*standing);
    live_.print(std::string(line) + "\n");
  }

  void tell_person(std::string_view line) { live_.warn(std::string(line) + "\n"); }

  Signals& signals_;
  Live& live_;
  std::function<bool()> listening_;
  Child child_;
  std::array<Lines, 2> lines_;
  std::array<bool, 2> open_{true, true};
  bool under_mpirun_;
  bool stopping_ = false;
  bool killed_ = false;
};

/// Each rank gets its even share of the cores, for its threads, its loader and its transfers; with
/// more ranks than cores the system shares them out. Whoever has told Open MPI how to bind has told
/// us.
std::vector<std::string> binding(const LaunchFacts& facts) {
  if (std::getenv("OMPI_MCA_hwloc_base_binding_policy")) return {};
  const int share = facts.node_cores / facts.ranks_on_node;
  if (share < 1) return {"--bind-to", "none"};
  return {"--map-by", fmt::format("slot:PE={}", share), "--bind-to", "core"};
}

constexpr std::string_view variable = "environment.";

}  // namespace

std::string written(const LaunchFacts& facts) {
  Fields fields;
  fields.put("ranks", long(facts.ranks));
  fields.put("threads", long(facts.threads));
  fields.put("ranks_on_node", long(facts.ranks_on_node));
  fields.put("node_cores", long(facts.node_cores));
  fields.put("folder", facts.folder.native());
  fields.put("remarks", fmt::format("{}", fmt::join(facts.remarks, "\n")));
  for (const auto& [name, value] : facts.environment)
    fields.put(std::string(variable) + name, value);
  return fields.written();
}

LaunchFacts facts_in(std::string_view text) {
  const Fields fields = Fields::parse(text);
  const auto ranks = fields.whole("ranks");
  const auto folder = fields.text("folder");
  if (!ranks || !folder) {
    throw base::Error(base::Fault::bug, "parajoule-train --check printed no facts");
  }
  LaunchFacts facts{.ranks = int(*ranks),
                    .threads = int(fields.whole("threads").value_or(1)),
                    .ranks_on_node = int(fields.whole("ranks_on_node").value_or(*ranks)),
                    .node_cores = int(fields.whole("node_cores").value_or(1)),
                    .folder = *folder};
  std::istringstream remarks(fields.text("remarks").value_or(""));
  for (std::string line; std::getline(remarks, line);) facts.remarks.push_back(line);
  for (const std::string& name : fields.names()) {
    if (name.starts_with(variable)) {
      facts.environment[name.substr(variable.size())] = *fields.text(name);
    }
  }
  return facts;
}

Command starter(const LaunchFacts& facts, const std::vector<std::string>& program) {
  Command command{.words = {}, .environment = facts.environment};
  if (facts.ranks > 1) {
    // Between its TERM and its KILL mpirun waits for a second unless told otherwise: too short for
    // a rank to say that another one died.
    command.words = {std::string(mpirun),
                     "-q",
                     "--mca",
                     "odls_base_sigkill_timeout",
                     "3",
                     "--oversubscribe",
                     "-n",
                     fmt::format("{}", facts.ranks)};
    std::ranges::copy(binding(facts), std::back_inserter(command.words));
    if (geteuid() == 0) {
      command.environment.insert(
          {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
    }
  }
  std::ranges::copy(program, std::back_inserter(command.words));
  return command;
}

Ended run_ranks(const Command& command, const Seat& seat) {
  try {
    return Running(command, seat).to_the_end();
  } catch (const NotStarted& error) {
    if (command.words[0] != mpirun || error.code != ENOENT) throw;
    throw base::Error(error.fault, fmt::format("{}; more than one rank needs it: apt-get install "
                                               "openmpi-bin",
                                               error.what()));
  }
}

std::string own_words(const Command& command) {
  Command again = command;
  std::erase(again.words, "-q");
  const auto program = std::ranges::find_if(
      again.words, [](const std::string& word) { return word.ends_with("/parajoule-train"); });
  again.words.erase(program, again.words.end());
  again.words.push_back("true");
  Child child(again);
  const Exit exit = child.wait();
  std::string words;
  while (const auto text = child.read(Child::errors)) {
    if (text->empty()) break;
    words += *text;
  }
  if (words.empty()) words = fmt::format("mpirun ended with status {}\n", exit.code);
  return words;
}

}  // namespace parajoule::cli
