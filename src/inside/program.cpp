#include "inside/program.h"

#include <atomic>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::inside {

using base::Error;
using base::Fault;
using base::Seconds;

namespace {

constexpr std::size_t longest_name = 1000;

void check(std::string_view name) {
  if (name.empty()) throw Error(Fault::usage, "a region needs a name");
  if (name.size() > longest_name)
    throw Error(Fault::usage, fmt::format("the name of a region has {} bytes; at most {}",
                                          name.size(), longest_name));
}

std::optional<std::string> wrapper_folder() {
  const char* folder = std::getenv("PARAJOULE_REGIONS");
  return folder && *folder ? std::optional<std::string>(folder) : std::nullopt;
}

struct Here {
  pid_t process;
  Program program;
};

}  // namespace

Program::Program(std::optional<std::string> regions) : folder_(std::move(regions)) {}

Program& Program::here() {
  static std::atomic<Here*> current{nullptr};
  const pid_t process = ::getpid();
  Here* found = current.load(std::memory_order_acquire);
  while (!found || found->process != process) {
    // What was there is another process's: its threads are not here to let go of its locks.
    auto fresh = std::unique_ptr<Here>(new Here{process, Program(wrapper_folder())});
    if (current.compare_exchange_strong(found, fresh.get(), std::memory_order_acq_rel))
      found = fresh.release();
  }
  return found->program;
}

void Program::start(const meter::Options& sources, double hertz) {
  const std::lock_guard starting(starting_);
  {
    const std::lock_guard lock(mutex_);
    if (may_tell()) return;
    if (running_) throw Error(Fault::usage, "it is metering already: stop it first");
  }
  auto metering = std::make_shared<Metering>(
      meter::open_sources(sources).sources,
      [sources] { return meter::open_sources(sources).sources; },
      Metering::Options{.hertz = hertz});
  const std::lock_guard lock(mutex_);
  metering_ = std::move(metering);
  running_ = true;
  first_id_ = next_id_;
}

void Program::stop() {
  const std::lock_guard starting(starting_);
  std::shared_ptr<Metering> metering;
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(running_, false)) return;
    metering = metering_;
  }
  metering->stop();
}

Program::Active Program::active() {
  const std::lock_guard lock(mutex_);
  if (may_tell()) return Active::by_wrapper;
  return running_ ? Active::here : Active::no;
}

std::uint64_t Program::begin(std::string_view name, bool exact) {
  check(name);
  if (const auto wait = this->wait()) wait();
  std::unique_lock lock(mutex_);
  if (may_tell()) return tell_begin(name);
  if (!running_) return 0;
  const std::uint64_t id = next_id_++;
  const std::shared_ptr<Metering> metering = metering_;
  lock.unlock();
  metering->begin(id, now(), exact);
  return id;
}

void Program::end(std::uint64_t id) {
  if (id == 0) return;
  if (const auto wait = this->wait()) wait();
  const Seconds at = now();
  if (tell_end(id, at)) return;
  const auto metering = metering_of(id);
  if (!metering || !metering->end(id, at))
    throw Error(Fault::usage, "no such region is open: it has ended already, or never began");
}

RegionEnergy Program::energy_of(std::uint64_t id) {
  if (active() == Active::by_wrapper)
    throw Error(Fault::usage,
                "the energies of regions stand in what `parajoule measure` writes at its end");
  const auto metering = metering_of(id);
  std::optional<RegionEnergy> energy;
  if (metering) energy = metering->energy_of(id);
  if (!energy)
    throw Error(Fault::usage, "no such region has ended: it is open, forgotten, or never began");
  return *std::move(energy);
}

void Program::forget(std::uint64_t id) {
  if (const auto metering = metering_of(id)) metering->forget(id);
}

void Program::synchronise_with(std::function<void()> wait) {
  const std::lock_guard lock(mutex_);
  wait_ = std::move(wait);
}

std::function<void()> Program::wait() const {
  const std::lock_guard lock(mutex_);
  return wait_;
}

/// Whether a wrapper is there to be told. One that is gone is none.
bool Program::may_tell() {
  if (file_) return true;
  if (!folder_) return false;
  file_ = RegionFile::make(*folder_);
  if (!file_) folder_.reset();
  return file_.has_value();
}

std::uint64_t Program::tell_begin(std::string_view name) {
  const std::uint64_t id = next_id_++;
  if (!file_->begin(id, now(), name))
    throw Error(Fault::environment, "the region cannot be told to `parajoule measure`: no space?");
  told_.insert(id);
  return id;
}

/// False if the wrapper knows no such region.
bool Program::tell_end(std::uint64_t id, Seconds at) {
  const std::lock_guard lock(mutex_);
  if (told_.erase(id) == 0) return false;
  if (!file_->end(id, at))
    throw Error(Fault::environment, "the region cannot be told to `parajoule measure`: no space?");
  return true;
}

std::shared_ptr<Metering> Program::metering_of(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return metering_ && id >= first_id_ && id < next_id_ ? metering_ : nullptr;
}

}  // namespace parajoule::inside
