#include "measure/measurement.h"

#include <cstring>
#include <exception>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "base/error.h"
#include "measure/gathering.h"
#include "measure/job.h"
#include "measure/region_files.h"
#include "measure/rows.h"
#include "measure/spans.h"
#include "measure/together.h"

namespace parajoule::measure {
namespace {

using base::Seconds;

class Run {
 public:
  explicit Run(const Measurement& measurement) : wanted_(measurement), inherited_(inherited()) {}

  Outcome to_the_end() {
    start_meter();
    if (const int status = wait_idle()) return interrupted(status);
    regions_ = RegionFiles::make();
    try {
      const Seconds begin = now();
      if (meter_) meter_->begin(command_span, begin);
      Command command(wanted_.command, regions_.environment(), inherited_, signals_, witness_);
      let_go(inherited_);
      const Ended ended = command.wait();
      return finished({begin, now()}, ended);
    } catch (const NotStarted& error) {
      if (meter_) meter_->discard();
      return {.status = error.status, .troubles = {error.what()}};
    }
  }

 private:
  Seconds now() const { return meter_ ? meter_->now() : Seconds(0); }

  void start_meter() {
    keep_room(inherited_);
    try {
      meter_ = std::make_unique<NodeMeter>(wanted_.meter);
    } catch (const std::exception& error) {
      outcome_.troubles.push_back(fmt::format("{}; nothing is metered", error.what()));
    }
  }

  /// Lies still for as long as the machine is to be metered without the command; 0, or the status
  /// to end with if a signal wants an end of it.
  int wait_idle() {
    if (!meter_ || wanted_.idle <= Seconds(0)) return signals_.wants_end();
    const Seconds begin = now();
    const Seconds end = begin + wanted_.idle;
    while (now() < end) {
      pollfd file{signals_.file(), POLLIN, 0};
      poll(&file, 1, int(1e3 * (end - now()).count()) + 1);
      if (const int status = signals_.wants_end()) return status;
    }
    meter_->add(idle_span, {begin, now()});
    return 0;
  }

  Outcome interrupted(int status) {
    if (meter_) meter_->discard();
    return {.status = status, .troubles = {"ended before the command was started"}};
  }

  Outcome finished(meter::Span span, const Ended& ended) {
    outcome_.status = ended.status;
    if (!meter_) return outcome_;
    meter_->stop();
    meter_->add(command_span, span);
    tell(ended);
    meter_->add(regions_.phases(meter_->start()));
    for (const std::string& trouble : regions_.troubles())
      meter_->note(store::Severity::warning, trouble);
    meter_->finish(store::State::done,
                   ended.signal ? fmt::format("the command was killed by signal {}", *ended.signal)
                                : fmt::format("the command's status was {}", ended.status));
    outcome_.record = meter_->path();
    for (const std::string& trouble : meter_->troubles()) outcome_.troubles.push_back(trouble);
    return outcome_;
  }

  void tell(const Ended& ended) {
    const auto found = [&](std::string key, std::string value) {
      meter_->add(store::Setting{std::move(key), std::move(value), "found"});
    };
    found("status", std::to_string(ended.status));
    if (ended.signal) found("signal", std::to_string(*ended.signal));
    found("command.0.cpu_seconds", fmt::format("{}", ended.cpu.count()));
    if (!ended.left.empty()) meter_->note(store::Severity::warning, told(ended.left));
  }

  const Measurement& wanted_;
  const Inherited inherited_;  // before anything is held back or opened
  Signals signals_;
  Witness witness_;  // a process should be made before threads are
  std::unique_ptr<NodeMeter> meter_;
  RegionFiles regions_;
  Outcome outcome_;
};

}  // namespace

Outcome run(const Measurement& measurement) {
  const auto task = task_in(environment);
  if (!task) return Run(measurement).to_the_end();
  std::optional<Gathering> gathering;
  try {
    gathering.emplace(task->job, this_node(0).boot_id);
  } catch (const base::Error& error) {
    Outcome outcome = Run(measurement).to_the_end();
    outcome.troubles.push_back(
        fmt::format("{}: every task of this node meters it, and none of their numbers may be added",
                    error.what()));
    return outcome;
  }
  // A command of a task may measure a part of itself.
  if (environment("PARAJOULE_REGIONS") == gathering->regions().string())
    return Run(measurement).to_the_end();
  return run_together(measurement, *task, std::move(*gathering));
}

}  // namespace parajoule::measure
