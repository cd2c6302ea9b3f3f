#include "meter/sampler.h"

#include <algorithm>

#include <fmt/format.h>
#include <time.h>

#include "base/error.h"
#include "meter/no_signals.h"
#include "meter/thread_time.h"

namespace parajoule::meter {

using base::Seconds;

namespace {

Seconds period_of(double hertz) {
  if (!(hertz > 0 && hertz <= 1000))
    throw base::Error(base::Fault::usage,
                      fmt::format("sampling_hertz = {} is not in (0, 1000]", hertz));
  return Seconds(1 / hertz);
}

std::chrono::steady_clock::time_point moment(std::chrono::steady_clock::time_point start,
                                             Seconds after) {
  return start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(after);
}

}  // namespace

Sampler::Sampler(std::vector<std::unique_ptr<Source>> sources, Options options)
    : options_(std::move(options)),
      clock_(node_clock(options_.start)),
      sweep_(std::move(sources), clock_, period_of(options_.hertz)),
      descriptions_(sweep_.descriptions()),
      live_(descriptions_) {
  keep(sweep_.whole_round());
  const NoSignals while_starting;
  sampling_ = std::thread([this] { sample(); });
  delivering_ = std::thread([this] { deliver(); });
}

Sampler::~Sampler() {
  try {
    stop();
  } catch (...) {  // whoever wants to know calls stop
  }
}

void Sampler::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (sampling_.joinable()) sampling_.join();
  if (delivering_.joinable()) delivering_.join();
  std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::vector<Description> Sampler::descriptions() const { return descriptions_; }

Seconds Sampler::now() const { return clock_.now(); }

std::vector<Live> Sampler::snapshot() const {
  std::lock_guard lock(mutex_);
  return live_.now();
}

SamplingCost Sampler::cost() const {
  std::lock_guard lock(mutex_);
  SamplingCost cost = cost_;
  cost.cpu += delivery_cpu_;
  return cost;
}

/// Takes the rows of a round into everything that others look at.
void Sampler::keep(std::vector<Row> rows) {
  std::lock_guard lock(mutex_);
  for (const Row& row : rows) live_.add(row);
  if (options_.sink) std::ranges::move(rows, std::back_inserter(undelivered_));
  cost_.rounds = sweep_.rounds();
  cost_.left_out = sweep_.left_out();
  cost_.longest_round = sweep_.longest();
}

void Sampler::sample() {
  const Seconds begin = clock_.now();
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      cost_.cpu = thread_cpu_time() + sweep_.cpu_elsewhere();
      cost_.wall = clock_.now() - begin;
      last = wake_.wait_until(lock, moment(options_.start, sweep_.next()),
                              [this] { return stopping_; });
    }
    keep(last ? sweep_.whole_round() : sweep_.round());
  }
  std::lock_guard lock(mutex_);
  cost_.cpu = thread_cpu_time() + sweep_.cpu_elsewhere();
  cost_.wall = clock_.now() - begin;
  sampled_ = true;
  wake_.notify_all();
}

void Sampler::deliver() {
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    last = wake_.wait_for(lock, options_.deliver_every, [this] { return sampled_; });
    offer(lock);
    delivery_cpu_ = thread_cpu_time();
  }
}

/// Gives the rows so far to the sink, without holding the lock.
void Sampler::offer(std::unique_lock<std::mutex>& lock) {
  if (undelivered_.empty()) return;
  const std::vector<Row> rows = std::exchange(undelivered_, {});
  lock.unlock();
  std::exception_ptr failure;
  try {
    options_.sink(rows);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  failure_ = failure;
}

}  // namespace parajoule::meter
