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
  PolledSource(Description description, std::shared_ptr<Poll> poll, std::size_t place)
      : description_(std::move(description)), poll_(std::move(poll)), place_(place) {}

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
    if (place_ < answer.readings.size()) return answer.readings[place_];
    return Gap{Gap::Cause::failed, "the answer has no such number"};
  }

  Seconds age() const override { return age_; }

  /// Its share of the thread's: all that hold the poll together tell the whole.
  Seconds cpu_elsewhere() const override { return poll_->cpu() / double(poll_.use_count()); }

 private:
  bool overdue(const Poll::Answer& answer) const {
    return answer.age - told_ > 10 * poll_->every();
  }

  Description description_;
  std::shared_ptr<Poll> poll_;
  std::size_t place_;
  std::uint64_t given_ = 0;
  Seconds age_{0};
  Seconds told_{0};  ///< the age at which its lateness was last told
};

}  // namespace

Poll::Poll(Ask ask, Seconds every) : ask_(std::move(ask)), every_(every) {}

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

void Poll::run() {
  const Stopped stopped = [this] {
    std::lock_guard lock(mutex_);
    return stopping_;
  };
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    const Moment asked = std::chrono::steady_clock::now();
    std::vector<Reading> readings;
    try {
      readings = ask_(stopped);
    } catch (const std::exception& error) {
      readings.assign(1, Gap{Gap::Cause::failed, error.what()});
    }
    const Moment answered = std::chrono::steady_clock::now();
    lock.lock();
    cpu_ = thread_cpu_time();
    at_ = asked + (answered - asked) / 2;
    last_.readings = std::move(readings);
    ++last_.number;
    const auto pause = std::chrono::duration_cast<std::chrono::steady_clock::duration>(every_);
    wake_.wait_until(lock, asked + pause, [this] { return stopping_; });
  }
}

std::unique_ptr<Source> polled(Description description, std::shared_ptr<Poll> poll,
                               std::size_t place) {
  return std::make_unique<PolledSource>(std::move(description), std::move(poll), place);
}

}  // namespace parajoule::meter
