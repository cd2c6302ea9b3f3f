#pragma once

// Reads batches ahead of their use with threads of its own. Order and content of the batches do not
// depend on the number of threads, and memory is bounded by the batches read ahead.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/quantity.h"
#include "data/dataset.h"
#include "data/order.h"

namespace parajoule::data {

/// What becomes of a sample that cannot be decoded. `abort`: `take` throws Error{input}. `skip`:
/// the batch is that much smaller. `replace`: another sample takes its place, drawn from (seed,
/// epoch, index); in a pass that evaluates, or a view without chance, it is skipped instead.
enum class OnBadSample { abort, skip, replace };

class Loader {
 public:
  struct Options {
    View view = {};
    int threads = 1;  ///< 0: `take` itself reads
    int batches_ahead = 2;
    OnBadSample on_bad_sample = OnBadSample::abort;
  };

  /// A sample that could not be decoded, and what was done.
  struct Bad {
    std::int64_t index = 0;
    std::string why;                               ///< names the file
    std::optional<std::int64_t> replaced_by = {};  ///< none: skipped
  };

  /// The memory is the loader's, and holds until the next `take`.
  struct Batch {
    std::int64_t number = 0;               ///< as in the pass
    std::int64_t planned = 0;              ///< samples, before any was skipped
    std::int64_t count = 0;                ///< N, samples in it; may be 0
    std::span<float> images = {};          ///< (N,C,H,W), or (N,H,W,C) for Axes::channels_last
    std::span<std::int64_t> labels = {};   ///< (N)
    std::span<std::int64_t> indices = {};  ///< (N), in the data set
    std::vector<Bad> bad = {};             ///< in the order of the pass
    std::int64_t warnings = 0;             ///< damage that decoders mended
    base::Seconds waited{0};               ///< that `take` had to wait
  };

  /// Begins to read at once. `dataset` must outlive the loader.
  Loader(const Dataset& dataset, Pass pass, const Options& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch of the pass. Taking more than `remaining` is a bug. Throws what a thread met;
  /// the loader is of no more use then.
  Batch take();
  std::int64_t remaining() const;

  /// All waits of `take` so far.
  base::Seconds waited() const { return waited_; }

  /// Ends the threads after the samples under way; a `take` that waits, and any later one, throws.
  /// From any thread.
  void stop();

 private:
  /// Memory of one batch, used again and again.
  struct Slot;
  /// Samples first ... first + count - 1 of one batch: what a thread reads at a time.
  struct Portion {
    std::int64_t batch;
    std::size_t first;
    std::size_t count;
  };

  void work();
  std::optional<Portion> next_portion();
  void read(const Portion& portion);
  void read_sample(Slot& slot, std::size_t position, std::int64_t index);
  void fill(Slot& slot, std::size_t position, std::int64_t index);
  void mend(Slot& slot, std::size_t position, Bad bad);
  std::int64_t replace(Slot& slot, std::size_t position, const Bad& bad);
  Slot& slot(std::int64_t batch);
  Slot& next_slot();
  Batch hand_out(Slot& slot);

  const Dataset& dataset_;
  const Pass pass_;
  const Options options_;
  std::size_t portion_size_;
  std::vector<Slot> slots_;
  std::vector<std::thread> threads_;
  base::Seconds waited_{0};

  mutable std::mutex mutex_;  // guards what follows, and the slots' counts
  std::condition_variable work_to_do_;
  std::condition_variable batch_ready_;
  std::int64_t claiming_ = 0;  // batch whose samples are being claimed
  std::size_t claimed_ = 0;    // samples of it that are claimed
  std::int64_t taken_ = 0;     // batches handed out
  bool stopped_ = false;
};

}  // namespace parajoule::data
