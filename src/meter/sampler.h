#pragma once

// Reads all sources of a node in a thread of its own, at a steady pace, from construction to
// `stop`.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "meter/live.h"
#include "meter/source.h"
#include "meter/sweep.h"

namespace parajoule::meter {

/// What the metering itself has cost so far.
struct SamplingCost {
  base::Seconds cpu{0};        ///< of all threads, what the sink does included
  base::Seconds wall{0};       ///< since the start
  std::uint64_t rounds = 0;    ///< over the sources
  std::uint64_t left_out = 0;  ///< rounds that came too late to be made
  base::Seconds longest_round{0};
};

/// One a node, in the process that owns it. All sources are read in the constructor and once more
/// in `stop`; no reading is taken after. `snapshot`, `cost` and `now` may be called from any
/// thread.
class Sampler {
 public:
  /// Takes rows about three times a second, from a thread that is neither the caller's nor the one
  /// that samples, so that a slow disk does not tear holes. Rows are in the order of their moments
  /// within each source, and each is given once: a sink that throws has them all the same. What it
  /// threw last is thrown by `stop`, unless a later call went well.
  using Sink = std::function<void(std::span<const Row>)>;

  struct Options {
    double hertz = 10;
    base::Seconds deliver_every{0.3};
    Sink sink = {};
    /// Zero of the moments of all rows: give that of the record.
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };

  /// Throws Error{usage} unless 0 < hertz <= 1000.
  Sampler(std::vector<std::unique_ptr<Source>> sources, Options options);
  ~Sampler();  ///< stops; what the sink threw is lost
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Reads all once more, hands the last rows to the sink and ends the threads. A second call does
  /// nothing.
  void stop();

  /// In the order of `Row::source`.
  std::vector<Description> descriptions() const;

  /// Seconds since `Options::start`, by the clock of the rows.
  base::Seconds now() const;

  /// Each source's state now, in their order; for a line that is shown live.
  std::vector<Live> snapshot() const;

  SamplingCost cost() const;

 private:
  void sample();
  void deliver();
  void offer(std::unique_lock<std::mutex>& lock);
  void keep(std::vector<Row> rows);

  const Options options_;
  const Clock clock_;
  Sweep sweep_;  ///< the sampling thread's, once it runs
  const std::vector<Description> descriptions_;

  mutable std::mutex mutex_;  ///< guards what follows, up to the threads
  std::condition_variable wake_;
  LiveState live_;
  std::vector<Row> undelivered_;
  std::exception_ptr failure_;
  SamplingCost cost_;
  base::Seconds delivery_cpu_{0};
  bool stopping_ = false;
  bool sampled_ = false;  ///< the last round is done

  std::thread sampling_;
  std::thread delivering_;
};

}  // namespace parajoule::meter
