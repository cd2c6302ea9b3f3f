#pragma once

// The regions of this process: told to `parajoule measure` if it runs under that, else metered
// here.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "inside/metering.h"
#include "inside/region_file.h"
#include "meter/open.h"

namespace parajoule::inside {

/// Functions throw base::Error{usage} for what may not be asked.
class Program {
 public:
  enum class Active { no, here, by_wrapper };

  /// `regions`: the folder of the wrapper, if there is one.
  explicit Program(std::optional<std::string> regions);

  /// That of this process. In the child of a fork it is a new one: the parent's threads are not
  /// there, and what they held is left alone.
  static Program& here();

  /// Regions of a metering before this one are forgotten.
  void start(const meter::Options& sources, double hertz);
  void stop();
  Active active();

  /// 0 if nothing meters.
  std::uint64_t begin(std::string_view name, bool exact);
  void end(std::uint64_t id);
  RegionEnergy energy_of(std::uint64_t id);
  void forget(std::uint64_t id);
  void synchronise_with(std::function<void()> wait);

 private:
  std::function<void()> wait() const;
  std::uint64_t tell_begin(std::string_view name);
  bool tell_end(std::uint64_t id, base::Seconds at);
  bool may_tell();
  std::shared_ptr<Metering> metering_of(std::uint64_t id) const;

  std::mutex starting_;  ///< held by start and stop; taken before `mutex_`

  mutable std::mutex mutex_;  ///< guards what follows; never held while meters are read
  std::optional<std::string> folder_;
  std::optional<RegionFile> file_;
  std::set<std::uint64_t> told_;  ///< regions that the wrapper knows to be open
  std::function<void()> wait_;
  std::shared_ptr<Metering> metering_;  ///< stays after `stop`, for what may still be asked
  bool running_ = false;
  std::uint64_t first_id_ = 1;  ///< of the regions of `metering_`
  std::uint64_t next_id_ = 1;
};

}  // namespace parajoule::inside
