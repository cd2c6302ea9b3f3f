#include "meter/poll.h"

#include <exception>
#include <utility>

#include <fmt/format.h>
#include <time.h>

#include "meter/no_signals.h"
#include "meter/thread_time.h"

namespace parajoule::meter {

using base::Seconds;

namespace {

class PolledSource final : public Source {
 public:
  PolledSource(Description description, std::shared_ptr<Poll> poll, std::size_t place, Ends ends)
      : description_(std::move(description)), poll_(std::move(poll)), place_(place), ends_(ends) {}

  const Description& description() const override { return description_; }

  bool ready() override {
    poll_->begin();
    const Poll::Answer answer = poll_->last();
    return answer.number > given_ || overdue(answer);
  }

  Reading read(Seconds) override {
    const Poll::Answer answer = poll_->last();
    age_ = Seconds(0);
    if (answer.number <= given_) {
      told_ = answer.age;
      return Gap{Gap::Cause::failed, fmt::format("no answer for {:.1f} s", answer.age.count())};
    }
    given_ = answer.number;
    told_ = Seconds(0);
    age_ = answer.age;
    if (place_ < answer.readings.size()) {
      const Poll::Timed& timed = answer.readings[place_];
      if (timed.taken) age_ = std::chrono::steady_clock::now() - *timed.taken;
      return timed.reading;
    }
    return Gap{Gap::Cause::failed, "the answer has no such number"};
  }

  Seconds age() const override { return age_; }

  void refresh(Poll::Moment since) override {
    if (ends_ == Ends::asked) poll_->ask_since(since);
  }

  /// Its share of the thread's: all that hold the poll together tell the whole.
  Seconds cpu_elsewhere() const override { return poll_->cpu() / double(poll_.use_count()); }

 private:
  bool overdue(const Poll::Answer& answer) const {
    return answer.age - told_ > 10 * poll_->every();
  }

  Description description_;
  std::shared_ptr<Poll> poll_;
  std::size_t place_;
  Ends ends_;
  std::uint64_t given_ = 0;
  Seconds age_{0};
  Seconds told_{0};  ///< the age at which its lateness was last told
};

}  // namespace

Poll::Poll(Ask ask, Seconds every)
    : Poll(AskInTurn([ask = std::move(ask)](const Stopped& stopped) {
             std::vector<Timed> readings;
             for (Reading& reading : ask(stopped)) readings.push_back({std::move(reading)});
             return readings;
           }),
           every) {}

Poll::Poll(AskInTurn ask, Seconds every) : ask_(std::move(ask)), every_(every) {}

Poll::~Poll() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Poll::begin() {
  std::lock_guard lock(mutex_);
  if (std::exchange(begun_, true)) return;
  at_ = std::chrono::steady_clock::now();
  const NoSignals while_starting;
  thread_ = std::thread([this] { run(); });
}

Poll::Answer Poll::last() const {
  std::lock_guard lock(mutex_);
  Answer answer = last_;
  if (begun_) answer.age = std::chrono::steady_clock::now() - at_;
  return answer;
}

Seconds Poll::cpu() const {
  std::lock_guard lock(mutex_);
  return cpu_;
}

void Poll::ask_since(Moment since) {
  const std::lock_guard one(asking_);
  if (!asked_ || *asked_ < since) ask([] { return false; });
}

/// With `asking_` held.
void Poll::ask(const Stopped& stopped) {
  const Moment asked = std::chrono::steady_clock::now();
  asked_ = asked;
  std::vector<Timed> readings;
  try {
    readings = ask_(stopped);
  } catch (const std::exception& error) {
    readings.assign(1, {Gap{Gap::Cause::failed, error.what()}});
  }
  const Moment answered = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  at_ = asked + (answered - asked) / 2;
  last_.readings = std::move(readings);
  ++last_.number;
}

void Poll::run() {
  const Stopped stopped = [this] {
    std::lock_guard lock(mutex_);
    return stopping_;
  };
  const auto pause = std::chrono::duration_cast<std::chrono::steady_clock::duration>(every_);
  while (!stopped()) {
    Moment next = std::chrono::steady_clock::now();
    {
      // Whoever asked at an end of the run has asked for this turn too.
      const std::lock_guard one(asking_);
      if (!asked_ || next >= *asked_ + pause) ask(stopped);
      next = *asked_ + pause;
    }
    std::unique_lock lock(mutex_);
    cpu_ = thread_cpu_time();
    wake_.wait_until(lock, next, [this] { return stopping_; });
  }
}

std::unique_ptr<Source> polled(Description description, std::shared_ptr<Poll> poll,
                               std::size_t place, Ends ends) {
  return std::make_unique<PolledSource>(std::move(description), std::move(poll), place, ends);
}

}  // namespace parajoule::meter
