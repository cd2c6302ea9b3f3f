#include "data/loader.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::data {

namespace {

/// Floats a thread reads between two looks at the queue, about: small pictures are claimed many at
/// a time, so that the lock costs nothing.
constexpr std::size_t floats_a_claim = 16384;

/// Samples drawn in the place of a bad one before giving up: a data set in which ten at random are
/// bad is not one bad sample.
constexpr int replacements = 10;

constexpr std::size_t floats_a_cache_line = 16;

/// What a thread met, as the caller shall see it.
std::exception_ptr told(std::exception_ptr met, std::int64_t index) {
  try {
    std::rethrow_exception(met);
  } catch (const base::Error&) {
    return met;
  } catch (const std::bad_alloc&) {
    return std::make_exception_ptr(base::Error(
        base::Fault::environment, fmt::format("sample {}: no memory to read it", index)));
  } catch (const std::exception& error) {
    return std::make_exception_ptr(
        base::Error(base::Fault::bug, fmt::format("sample {}: {}", index, error.what())));
  }
}

}  // namespace

struct Loader::Slot {
  std::unique_ptr<float[]> memory;
  std::span<float> images;
  std::vector<std::int64_t> labels;
  std::vector<std::int64_t> indices;

  std::optional<std::int64_t> batch;  // that is in it, or being read into it
  std::size_t left = 0;               // samples still to read
  std::int64_t warnings = 0;
  base::Seconds waited{0};
  std::vector<std::pair<std::size_t, Bad>> bad;                      // by position
  std::vector<std::pair<std::size_t, std::exception_ptr>> failures;  // by position

  Slot(std::size_t samples, std::size_t floats)
      : memory(std::make_unique_for_overwrite<float[]>(samples * floats + floats_a_cache_line)),
        labels(samples),
        indices(samples) {
    void* begin = memory.get();
    std::size_t space = (samples * floats + floats_a_cache_line) * sizeof(float);
    std::align(floats_a_cache_line * sizeof(float), samples * floats * sizeof(float), begin, space);
    images = {static_cast<float*>(begin), samples * floats};
  }

  void prepare(std::int64_t number, std::size_t samples) {
    batch = number;
    left = samples;
    warnings = 0;
    bad.clear();
    failures.clear();
  }

  void move(std::size_t from, std::size_t to, std::size_t floats) {
    std::ranges::copy(images.subspan(from * floats, floats), images.begin() + to * floats);
    labels[to] = labels[from];
    indices[to] = indices[from];
  }
};

Loader::Loader(const Dataset& dataset, Pass pass, const Options& options)
    : dataset_(dataset), pass_(std::move(pass)), options_(options) {
  base::ensure(options.threads >= 0 && options.batches_ahead >= 1, "a loader can read ahead");
  const std::size_t floats = dataset.shape().count();
  portion_size_ = std::max<std::size_t>(1, floats_a_claim / std::max<std::size_t>(1, floats));
  std::size_t largest = 0;
  for (const Pass::Batch& batch : pass_.batches) largest = std::max(largest, batch.range.size());
  const std::size_t ahead = options.threads == 0 ? 0 : std::size_t(options.batches_ahead);
  const std::size_t slots = std::min(ahead + 1, std::max<std::size_t>(1, pass_.batches.size()));
  slots_.reserve(slots);
  for (std::size_t i = 0; i < slots; ++i) slots_.emplace_back(largest, floats);
  for (int i = 0; i < options.threads; ++i) threads_.emplace_back([this] { work(); });
}

Loader::~Loader() {
  stop();
  for (std::thread& thread : threads_) thread.join();
}

void Loader::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  work_to_do_.notify_all();
  batch_ready_.notify_all();
}

std::int64_t Loader::remaining() const {
  const std::lock_guard lock(mutex_);
  return std::int64_t(pass_.batches.size()) - taken_;
}

Loader::Slot& Loader::slot(std::int64_t batch) {
  return slots_[std::size_t(batch) % slots_.size()];
}

void Loader::work() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const std::optional<Portion> portion = next_portion();
    if (!portion) {
      if (claiming_ == std::int64_t(pass_.batches.size())) return;
      work_to_do_.wait(lock);
      continue;
    }
    lock.unlock();
    read(*portion);
    lock.lock();
    Slot& slot = this->slot(portion->batch);
    slot.left -= portion->count;
    if (slot.left == 0) batch_ready_.notify_one();
  }
}

// The batch that was handed out last is still in use, so its slot is not free.
std::optional<Loader::Portion> Loader::next_portion() {
  const std::int64_t in_use = std::max<std::int64_t>(0, taken_ - 1);
  const std::int64_t end =
      std::min(in_use + std::int64_t(slots_.size()), std::int64_t(pass_.batches.size()));
  while (claiming_ < end) {
    const std::int64_t batch = claiming_;
    const std::size_t samples = pass_.batches[std::size_t(batch)].range.size();
    if (claimed_ == 0) slot(batch).prepare(batch, samples);
    const std::size_t first = claimed_;
    const std::size_t count = std::min(portion_size_, samples - first);
    claimed_ += count;
    if (claimed_ == samples) {
      ++claiming_;
      claimed_ = 0;
    }
    if (count > 0) return Portion{batch, first, count};
    batch_ready_.notify_one();  // a batch without samples is ready at once
  }
  return std::nullopt;
}

void Loader::read(const Portion& portion) {
  Slot& slot = this->slot(portion.batch);
  const std::size_t begin = pass_.batches[std::size_t(portion.batch)].range.begin;
  for (std::size_t i = portion.first; i < portion.first + portion.count; ++i)
    read_sample(slot, i, pass_.samples[begin + i]);
}

void Loader::read_sample(Slot& slot, std::size_t position, std::int64_t index) {
  try {
    try {
      fill(slot, position, index);
    } catch (const base::Error& error) {
      if (error.fault != base::Fault::input) throw;
      mend(slot, position, {.index = index, .why = error.what()});
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    slot.failures.emplace_back(position, told(std::current_exception(), index));
  }
}

void Loader::fill(Slot& slot, std::size_t position, std::int64_t index) {
  const std::size_t floats = dataset_.shape().count();
  const Sample sample =
      dataset_.read(index, options_.view, slot.images.subspan(position * floats, floats));
  slot.labels[position] = sample.label;
  slot.indices[position] = index;
  if (sample.warnings == 0) return;
  const std::lock_guard lock(mutex_);
  slot.warnings += sample.warnings;
}

void Loader::mend(Slot& slot, std::size_t position, Bad bad) {
  if (options_.on_bad_sample == OnBadSample::abort)
    throw base::Error(base::Fault::input,
                      bad.why + R"(; to go on without it: on_bad_sample = "skip" or "replace")");
  const bool replaceable = options_.view.augmented && !pass_.evaluates;
  if (options_.on_bad_sample == OnBadSample::replace && replaceable)
    bad.replaced_by = replace(slot, position, bad);
  const std::lock_guard lock(mutex_);
  slot.bad.emplace_back(position, std::move(bad));
}

std::int64_t Loader::replace(Slot& slot, std::size_t position, const Bad& bad) {
  const View::Chance& chance = *options_.view.augmented;
  base::Stream stream{chance.seed, std::uint64_t(base::Purpose::order), std::uint64_t(chance.epoch),
                      std::uint64_t(bad.index), 1};
  for (int i = 0; i < replacements; ++i) {
    const auto other = std::int64_t(stream.below(std::uint64_t(dataset_.size())));
    try {
      fill(slot, position, other);
      return other;
    } catch (const base::Error& error) {
      if (error.fault != base::Fault::input) throw;
    }
  }
  throw base::Error(base::Fault::input,
                    fmt::format("{}; nor can {} samples drawn in its place be read: is this "
                                "the right folder?",
                                bad.why, replacements));
}

Loader::Batch Loader::take() {
  Slot& slot = next_slot();
  if (!slot.failures.empty()) {
    stop();
    std::rethrow_exception(std::ranges::min_element(slot.failures, {}, [](auto& failure) {
                             return failure.first;
                           })->second);
  }
  return hand_out(slot);
}

// Waits until the next batch is complete, and gives back the memory of the one before.
Loader::Slot& Loader::next_slot() {
  const auto began = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  base::ensure(taken_ < std::int64_t(pass_.batches.size()), "a pass has a batch left to take");
  const std::int64_t number = taken_++;
  work_to_do_.notify_all();
  Slot& slot = this->slot(number);
  const auto complete = [&] { return slot.batch == number && slot.left == 0; };
  while (threads_.empty() && !stopped_ && !complete())
    if (const auto portion = next_portion()) {
      lock.unlock();
      read(*portion);
      lock.lock();
      slot.left -= portion->count;
    }
  batch_ready_.wait(lock, [&] { return stopped_ || complete(); });
  if (stopped_) throw base::Error(base::Fault::bug, "a batch was taken from a stopped loader");
  slot.waited = std::chrono::steady_clock::now() - began;
  waited_ += slot.waited;
  return slot;
}

// Samples that were skipped leave holes, which those behind them close.
Loader::Batch Loader::hand_out(Slot& slot) {
  const Pass::Batch& planned = pass_.batches[std::size_t(*slot.batch)];
  Batch batch{.number = planned.number,
              .planned = std::int64_t(planned.range.size()),
              .warnings = slot.warnings,
              .waited = slot.waited};
  std::ranges::sort(slot.bad, {}, [](auto& bad) { return bad.first; });
  std::vector<bool> skipped(planned.range.size());
  for (auto& [position, bad] : slot.bad) {
    skipped[position] = !bad.replaced_by;
    batch.bad.push_back(std::move(bad));
  }
  const std::size_t floats = dataset_.shape().count();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < skipped.size(); ++i) {
    if (skipped[i]) continue;
    if (kept != i) slot.move(i, kept, floats);
    ++kept;
  }
  batch.count = std::int64_t(kept);
  batch.images = slot.images.first(kept * floats);
  batch.labels = std::span(slot.labels).first(kept);
  batch.indices = std::span(slot.indices).first(kept);
  return batch;
}

}  // namespace parajoule::data
