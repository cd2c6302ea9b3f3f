#include "inside/metering.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace parajoule::inside {

using base::Seconds;
using meter::Row;
using meter::Series;

namespace {

/// After so long a source that has not been read again will not be waited for.
constexpr Seconds longest_wait{3};

/// So many rows of a source are kept even if no region needs them, for one that begins now.
constexpr std::size_t least_rows = 3;

Metering::Sources energetic(Metering::Sources sources) {
  std::erase_if(sources, [](const std::unique_ptr<meter::Source>& source) {
    const meter::Quantity quantity = source->description().quantity;
    return quantity != meter::Quantity::energy && quantity != meter::Quantity::power;
  });
  return sources;
}

}  // namespace

Seconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

Metering::Metering(Sources sources, std::function<Sources()> open_exact, const Options& options)
    : before_a_region_(options.before_a_region), open_exact_(std::move(open_exact)) {
  sources = energetic(std::move(sources));
  for (const auto& source : sources) descriptions_.push_back(source->description());
  rows_.resize(sources.size());
  sampler_ = std::make_unique<meter::Sampler>(
      std::move(sources),
      meter::Sampler::Options{.hertz = options.hertz,
                              .deliver_every = Seconds(std::clamp(1 / options.hertz, 0.01, 0.1)),
                              .sink = [this](std::span<const Row> rows) { take(rows); },
                              .start = std::chrono::steady_clock::time_point()});
}

void Metering::stop() {
  sampler_->stop();
  {
    const std::lock_guard lock(exact_mutex_);
    exact_over_ = true;
  }
  {
    const std::lock_guard lock(regions_mutex_);
    stopped_ = true;
  }
  settle();
}

void Metering::begin(std::uint64_t id, Seconds at, bool exact) {
  Region region{.begin = at, .exact = exact};
  if (exact) {
    read_exactly(region);
    region.begin = now();
  }
  const std::lock_guard lock(regions_mutex_);
  regions_.emplace(id, std::move(region));
}

bool Metering::end(std::uint64_t id, Seconds at) {
  const auto open = [&]() -> Region* {
    const auto found = regions_.find(id);
    return found == regions_.end() || found->second.end ? nullptr : &found->second;
  };
  std::unique_lock lock(regions_mutex_);
  const Region* begun = open();
  if (!begun) return false;
  Region last{.begin = at};
  if (begun->exact) {
    lock.unlock();
    read_exactly(last);
    lock.lock();
  }
  Region* region = open();  // another thread may have ended it meanwhile
  if (!region) return false;
  std::ranges::move(last.exact_rows, std::back_inserter(region->exact_rows));
  region->exact_cost += last.exact_cost;
  region->end = std::max(at, region->begin);
  forget_oldest();
  const bool stopped = stopped_;
  lock.unlock();
  if (stopped) settle();
  return true;
}

std::optional<RegionEnergy> Metering::energy_of(std::uint64_t id) {
  constexpr std::chrono::milliseconds between_looks{200};
  while (true) {
    settle();
    std::unique_lock lock(regions_mutex_);
    const auto found = regions_.find(id);
    if (found == regions_.end() || !found->second.end) return {};
    if (found->second.energy) return *found->second.energy;
    settled_.wait_for(lock, between_looks);
  }
}

void Metering::forget(std::uint64_t id) {
  const std::lock_guard lock(regions_mutex_);
  regions_.erase(id);
  settled_.notify_all();
}

std::size_t Metering::kept_rows() const {
  const std::lock_guard lock(rows_mutex_);
  std::size_t count = 0;
  for (const auto& rows : rows_) count += rows.size();
  return count;
}

/// From the sampler's own thread.
void Metering::take(std::span<const Row> rows) {
  {
    const std::lock_guard lock(rows_mutex_);
    for (const Row& row : rows) rows_[row.source].push_back(row);
  }
  settle();
}

/// Works out what can be told by now, and lets go of the readings that no region needs any more.
void Metering::settle() {
  const std::lock_guard rows_lock(rows_mutex_);
  std::vector<std::pair<std::uint64_t, Region>> ready;
  Seconds needed = now();
  {
    const std::lock_guard lock(regions_mutex_);
    for (const auto& [id, region] : regions_) {
      if (region.energy) continue;
      if (region.end && (stopped_ || reached(*region.end)))
        ready.emplace_back(id, region);
      else
        needed = std::min(needed, region.begin);
    }
  }
  for (const auto& [id, region] : ready) {
    auto energy = std::make_shared<const RegionEnergy>(accounted(region));
    const std::lock_guard lock(regions_mutex_);
    const auto found = regions_.find(id);
    if (found == regions_.end()) continue;
    found->second.energy = std::move(energy);
    found->second.exact_rows.clear();
  }
  settled_.notify_all();
  let_go(needed - before_a_region_);
}

/// Power is set back by half its window, so its reading must be as much later.
bool Metering::reached(Seconds end) const {
  if (now() - end > longest_wait) return true;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Seconds late = descriptions_[i].window.value_or(Seconds(0)) / 2;
    if (rows_[i].empty() || rows_[i].back().at < end + late) return false;
  }
  return true;
}

RegionEnergy Metering::accounted(const Region& region) const {
  RegionEnergy result{
      .length = *region.end - region.begin, .exact_cost = region.exact_cost, .account = {}};
  // A span without length has no account: of a region that short nothing can be told.
  if (!(result.length > Seconds(0))) return result;
  std::vector<Series> series;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Series one{.description = descriptions_[i], .rows = {}};
    for (const Row& row : region.exact_rows)
      if (row.source == i) one.rows.push_back(row);
    if (one.rows.size() < 2) one.rows.assign(rows_[i].begin(), rows_[i].end());
    series.push_back(std::move(one));
  }
  result.account = meter::account(series, {.begin = region.begin, .end = *region.end});
  return result;
}

/// Keeps the last rows before that moment: the first region after it begins between readings.
void Metering::let_go(Seconds before) {
  for (auto& rows : rows_)
    while (rows.size() > least_rows && rows[least_rows - 1].at < before) rows.pop_front();
}

/// Counters alone: of power two readings say nothing about what lies between.
void Metering::find_counters() {
  const auto open = std::exchange(open_exact_, nullptr);
  if (!open) return;
  for (auto& source : open()) {
    const meter::Description& description = source->description();
    const auto same = std::ranges::find(descriptions_, description);
    if (description.quantity != meter::Quantity::energy ||
        description.label != meter::Label::measured || same == descriptions_.end())
      continue;
    exact_.push_back({std::size_t(same - descriptions_.begin()), std::move(source)});
  }
}

void Metering::read_exactly(Region& region) {
  const std::lock_guard lock(exact_mutex_);
  if (exact_over_) return;
  const Seconds begin = now();
  find_counters();
  for (const Exact& each : exact_) {
    const Seconds before = now();
    each.counter->refresh(std::chrono::steady_clock::now());
    meter::Reading reading = each.counter->read(before);
    const Seconds age = each.counter->age();
    const Seconds at = age > Seconds(0) ? now() - age : (before + now()) / 2;
    region.exact_rows.push_back({each.source, at, std::move(reading)});
  }
  region.exact_cost = now() - begin;
}

/// Ended regions that nobody has asked for must not fill the memory.
void Metering::forget_oldest() {
  if (regions_.size() <= most_kept) return;
  const auto oldest = std::ranges::find_if(
      regions_, [](const auto& region) { return region.second.energy != nullptr; });
  if (oldest != regions_.end()) regions_.erase(oldest);
}

}  // namespace parajoule::inside
