#include "measure/keeper.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fstream>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/inherited.h"
#include "measure/region_files.h"
#include "measure/spans.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using nlohmann::json;
using std::filesystem::path;

/// For tasks that whoever started them is still about to start.
constexpr Seconds patience{2};
constexpr Seconds patience_with_an_unknown_number{0.2};
constexpr std::chrono::milliseconds look_again{2};

Seconds monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

/// For whoever comes last, if the meter comes to no end of its own.
constexpr std::string_view was_killed =
    "the meter of this node was killed: what is told is what it had read until then";

void leave_word(const Kept& kept, const Gathering& gathering) {
  std::ofstream(gathering.result()) << written(kept);
}

void wait_for_tasks(const Task& task, const Gathering& gathering) {
  const Seconds until =
      monotonic_now() + (task.on_node ? patience : patience_with_an_unknown_number);
  while (monotonic_now() < until &&
         int(gathering.files().size()) < task.on_node.value_or(task.ranks))
    std::this_thread::sleep_for(look_again);
}

/// What all tasks of the node may use, together.
void add_what_tasks_use(const std::vector<Page>& pages, meter::Options& options) {
  std::set<int> cores;
  std::vector<std::string> devices;
  bool all_devices = false;
  for (const Page& page : pages) {
    cores.insert(page.cores.begin(), page.cores.end());
    if (page.visible_devices)
      devices.push_back(*page.visible_devices);
    else
      all_devices = true;
  }
  options.cores = std::vector<int>(cores.begin(), cores.end());
  options.visible_devices = all_devices ? std::vector<std::string>() : std::move(devices);
}

void wait_for_the_end(const Gathering& gathering) {
  const auto any_held = [&] { return std::ranges::any_of(gathering.files(), held); };
  while (any_held())
    for (const path& file : gathering.files()) wait_until_free(file);
}

class Keeping {
 public:
  Keeping(const Measurement& measurement, const Task& task, const Gathering& gathering)
      : wanted_(measurement), task_(task), gathering_(gathering) {}

  Kept to_the_end() {
    wait_for_tasks(task_, gathering_);
    const std::vector<Page> present = gathering_.pages();
    NodeMeter::Options options = wanted_.meter;
    add_what_tasks_use(present, options.sources);
    RegionFiles regions = RegionFiles::in(gathering_.regions());
    NodeMeter meter(std::move(options));
    if (wanted_.idle > Seconds(0)) {
      const Seconds begin = meter.now();
      std::this_thread::sleep_for(wanted_.idle);
      meter.add(idle_span, {begin, meter.now()});
    }
    meter.begin(command_span, meter.now());
    leave_word({.record = meter.path().string(), .troubles = {std::string(was_killed)}},
               gathering_);
    std::ofstream(gathering_.ready()) << "ready\n";
    wait_for_the_end(gathering_);
    meter.stop();
    tell(meter, present.size());
    meter.add(regions.phases(meter.start()));
    for (const std::string& trouble : regions.troubles())
      meter.note(store::Severity::warning, trouble);
    meter.finish(store::State::done, fmt::format("the highest status of a task was {}", status_));
    return {.record = meter.path().string(), .troubles = meter.troubles()};
  }

 private:
  void tell(NodeMeter& meter, std::size_t present) {
    const std::vector<Page> pages = gathering_.pages();
    const Seconds origin = meter.start().time_since_epoch();
    const Seconds now = meter.now();
    Seconds begin = now;
    Seconds end{0};
    Seconds cpu{0};
    for (const Page& page : pages) {
      begin = std::min(begin, page.begin ? *page.begin - origin : now);
      end = std::max(end, page.end ? *page.end - origin : now);
      cpu += page.cpu;
      tell_task(meter, page);
    }
    if (present < pages.size())
      meter.note(store::Severity::warning,
                 fmt::format("{} of {} tasks came when the meters were open already: their "
                             "processors and GPUs may be missing",
                             pages.size() - present, pages.size()));
    meter.add(command_span, {std::min(begin, end), end});
    found(meter, "command.0.cpu_seconds", fmt::format("{}", cpu.count()));
    found(meter, "status", std::to_string(status_));
    found(meter, "tasks", std::to_string(pages.size()));
    found(meter, "tasks_of_job", std::to_string(task_.ranks));
  }

  void tell_task(NodeMeter& meter, const Page& page) {
    for (const std::string& remark : page.remarks)
      meter.note(store::Severity::warning, fmt::format("task {}: {}", page.rank, remark));
    if (page.status) {
      status_ = std::max(status_, *page.status);
      found(meter, fmt::format("task.{}.status", page.rank), std::to_string(*page.status));
    } else {
      meter.note(store::Severity::warning,
                 fmt::format("task {} went without a last word", page.rank));
    }
  }

  static void found(NodeMeter& meter, std::string key, std::string value) {
    meter.add(store::Setting{std::move(key), std::move(value), "found"});
  }

  const Measurement& wanted_;
  const Task& task_;
  const Gathering& gathering_;
  int status_ = 0;
};

/// Away from the terminal, the group of processes and the files of whoever started us.
void detach(int lock) {
  setsid();
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
  close_files_but(lock);
}

}  // namespace

std::string written(const Kept& kept) {
  json object = {{"troubles", kept.troubles}};
  if (kept.record) object["record"] = *kept.record;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<Kept> kept_in(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("troubles")) return {};
  Kept kept{.troubles = object["troubles"].get<std::vector<std::string>>()};
  if (object.contains("record")) kept.record = object["record"].get<std::string>();
  return kept;
}

Kept keep(const Measurement& measurement, const Task& task, const Gathering& gathering) {
  try {
    return Keeping(measurement, task, gathering).to_the_end();
  } catch (const std::exception& error) {
    return {.troubles = {fmt::format("{}; nothing is metered", error.what())}};
  }
}

pid_t start_keeper(const Measurement& measurement, const Task& task, const Gathering& gathering,
                   Lock lock) {
  gathering.clear();
  if (const pid_t keeper = fork(); keeper != 0) return keeper;
  detach(lock.file());
  leave_word(keep(measurement, task, gathering), gathering);
  _exit(0);  // and with it goes the lock
}

}  // namespace parajoule::measure
