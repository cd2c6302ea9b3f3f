#pragma once

// Devices that take long to answer: a management controller needs milliseconds to seconds. They are
// asked from a thread of their own, at a pace of their own, so that no round of the sampler waits
// for them.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

/// Whether the asker shall give up: it is to look now and then while it waits.
using Stopped = std::function<bool()>;

/// Asks one device for one or several numbers, again and again, once it was begun.
class Poll {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  /// One reading for each number, in an order of its own. Called from the thread.
  using Ask = std::function<std::vector<Reading>(const Stopped&)>;

  /// The same of numbers that are asked one after the other, with when each was taken.
  struct Timed {
    Reading reading;
    std::optional<Moment> taken = {};
  };
  using AskInTurn = std::function<std::vector<Timed>(const Stopped&)>;

  Poll(Ask ask, base::Seconds every);
  Poll(AskInTurn ask, base::Seconds every);
  ~Poll();  ///< waits for the question that is under way, which is told to give up
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  void begin();  ///< again: nothing

  /// Asks from the caller's thread unless a question was begun since that moment.
  void ask_since(Moment since);

  struct Answer {
    std::uint64_t number = 0;  ///< of answers so far; 0: none yet
    std::vector<Timed> readings = {};
    base::Seconds age{0};  ///< since the middle of the question; without an answer, since `begin`
  };
  Answer last() const;
  base::Seconds every() const { return every_; }
  base::Seconds cpu() const;  ///< processor time of the thread

 private:
  void run();
  void ask(const Stopped& stopped);

  const AskInTurn ask_;
  const base::Seconds every_;
  std::mutex asking_;                 ///< one question at a time; taken before `mutex_`
  std::optional<Moment> asked_ = {};  ///< guarded by `asking_`
  mutable std::mutex mutex_;          ///< guards what follows, up to the thread
  std::condition_variable wake_;
  Answer last_;
  Moment at_{};
  base::Seconds cpu_{0};
  bool begun_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

/// Whether the numbers of a poll are asked for at the ends of a run, or whatever comes is taken.
enum class Ends { asked, taken };

/// One number of a poll as a source. It has a reading when there is a new answer, or when none has
/// come for ten times as long as there should: that is a gap.
std::unique_ptr<Source> polled(Description description, std::shared_ptr<Poll> poll,
                               std::size_t place, Ends ends = Ends::taken);

}  // namespace parajoule::meter
