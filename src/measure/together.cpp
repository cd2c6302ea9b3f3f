#include "measure/together.h"

#include <cstdint>
#include <fstream>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "measure/keeper.h"
#include "measure/merge.h"
#include "meter/open.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using std::filesystem::path;

constexpr int look_again_milliseconds = 2;
constexpr Seconds patience_of_who_ends_jobs{0.8};  // mpirun kills a second after its TERM

Seconds monotonic_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

bool there(const path& file) { return access(file.c_str(), F_OK) == 0; }

/// Letters that name the job's record on all of its nodes.
std::string id_of(const std::string& job) {
  std::uint64_t number = mixed(job);
  std::string id;
  for (int letter = 0; letter < 8; ++letter, number /= 26) id += char('a' + number % 26);
  return id;
}

Measurement for_this_node(Measurement measurement, const Task& task) {
  const bool others = task.nodes.value_or(1) > 1 || task.on_node.value_or(task.ranks) < task.ranks;
  auto& options = measurement.meter;
  if (others) options.record.part = {.id = id_of(task.job), .node = task.rank};
  if (task.nodes) options.settings.push_back({"nodes", std::to_string(*task.nodes), "found"});
  return measurement;
}

class Together {
 public:
  Together(const Measurement& measurement, const Task& task, Gathering gathering)
      : wanted_(for_this_node(measurement, task)),
        task_(task),
        gathering_(std::move(gathering)),
        inherited_(inherited()),
        page_{.rank = task.rank,
              .cores = meter::own_cores(),
              .visible_devices = meter::own_visible_devices()},
        seat_(gathering_.enter(page_)) {}

  Outcome to_the_end() {
    const int ended_early = wait_for_meter();
    page_.begin = monotonic_now();
    gathering_.rewrite(seat_, page_);
    if (ended_early)
      page_.status = ended_early;
    else
      run_command();
    page_.end = monotonic_now();
    gathering_.rewrite(seat_, page_);
    outcome_.status = page_.status.value_or(0);
    leave();
    return outcome_;
  }

 private:
  /// Whoever takes the meter's lock starts the meter; all wait for its first reading. Returns the
  /// status to end with if a signal wants an end of it, else 0.
  int wait_for_meter() {
    bool seen = false;
    while (true) {
      if (held(gathering_.meter_lock())) {
        if (there(gathering_.ready())) return signals_.wants_end();
        seen = true;
      } else if (auto lock = Lock::take(gathering_.meter_lock())) {
        if (seen) {
          outcome_.troubles.emplace_back("the meter of this node ended before it began");
          return signals_.wants_end();
        }
        keeper_ = start_keeper(wanted_, task_, gathering_, std::move(*lock));
        seen = true;
      }
      pollfd file{signals_.file(), POLLIN, 0};
      poll(&file, 1, look_again_milliseconds);
      if (const int status = signals_.wants_end()) return status;
    }
  }

  void run_command() {
    try {
      Command command(wanted_.command, {{"PARAJOULE_REGIONS", gathering_.regions().string()}},
                      inherited_, signals_, witness_, {keeper_});
      let_go(inherited_);
      tell(command.wait());
    } catch (const NotStarted& error) {
      page_.remarks.emplace_back(error.what());
      page_.status = error.status;
      outcome_.troubles.emplace_back(error.what());
    }
  }

  void tell(const Ended& ended) {
    page_.status = ended.status;
    page_.cpu = ended.cpu;
    told_to_end_ = ended.told_to_end;
    if (ended.signal) page_.remarks.push_back(fmt::format("killed by signal {}", *ended.signal));
    if (!ended.left.empty()) page_.remarks.push_back(told(ended.left));
  }

  /// Two that leave at once may both find nobody left, but none finds another who has left after
  /// it.
  void leave() {
    { const Lock gone = std::move(seat_); }
    for (const path& file : gathering_.files())
      if (held(file)) return wait_for_who_tells();
    wait_until_free(gathering_.meter_lock());
    const int first =
        open(gathering_.told().c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (first < 0) return;
    close(first);
    std::ifstream file(gathering_.result(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (const auto kept = kept_in(std::move(text).str())) {
      outcome_.troubles.insert(outcome_.troubles.end(), kept->troubles.begin(),
                               kept->troubles.end());
      try {
        if (kept->record) take(*kept->record);
      } catch (const base::Error& error) {
        outcome_.troubles.emplace_back(error.what());
      }
    } else {
      outcome_.troubles.push_back(
          "the meter of this node was killed; `parajoule runs list` shows what it kept");
    }
    outcome_.once_told = [gathering = gathering_] { gathering.remove(); };
  }

  /// Whoever ends a whole job by TERM, as mpirun does when one task has died, kills the rest of it
  /// when the next one has gone: then all stay until the last one has told what there is to tell.
  void wait_for_who_tells() const {
    if (!told_to_end_) return;
    const Seconds until = monotonic_now() + patience_of_who_ends_jobs;
    while (there(gathering_.folder()) && monotonic_now() < until)
      poll(nullptr, 0, look_again_milliseconds);
  }

  /// The record of this node; or of all, if this was the last node.
  void take(const path& record) {
    if (!wanted_.meter.record.part) {
      outcome_.record = record;
      return;
    }
    const std::string& id = wanted_.meter.record.part->id;
    const std::vector<path> parts = parts_in(record.parent_path(), id);
    const int tasks = tasks_in(parts);
    if (parts.size() > 1 && tasks >= task_.ranks) {
      outcome_.record = merge(parts, record.parent_path());
      if (!outcome_.record) return;  // another node did, and tells
      std::error_code nothing;
      for (const path& part : parts) std::filesystem::remove(part, nothing);
      return;
    }
    outcome_.troubles.push_back(fmt::format(
        "{} holds the readings of this node, {} of {} tasks are recorded there so far; the last "
        "node tells the energy, or else `parajoule runs merge {}/{}.*.db`",
        record.string(), tasks, task_.ranks, record.parent_path().string(), id));
  }

  const Measurement wanted_;
  const Task& task_;
  const Gathering gathering_;
  const Inherited inherited_;
  Signals signals_;
  Witness witness_;
  Page page_;
  Lock seat_;
  pid_t keeper_ = -1;  ///< if this task started it
  bool told_to_end_ = false;
  Outcome outcome_;
};

}  // namespace

Outcome run_together(const Measurement& measurement, const Task& task, Gathering gathering) {
  return Together(measurement, task, std::move(gathering)).to_the_end();
}

}  // namespace parajoule::measure
