#include "simulate/kernel.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::simulate {
namespace {

/// Of ranks in a message: the first few.
constexpr std::size_t most_named = 8;

std::string named(const std::vector<int>& ranks, comm::Absence::Need need) {
  if (ranks.empty()) return "nobody in particular";
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < std::min(ranks.size(), most_named); ++i)
    text += fmt::format("{}{}",
                        i == 0                             ? ""
                        : need == comm::Absence::Need::one ? " or "
                                                           : ", ",
                        ranks[i]);
  if (ranks.size() > most_named) text += fmt::format(" and {} more", ranks.size() - most_named);
  return text;
}

class Ahead final : public Awaited {
 public:
  comm::Absence absence() const override { return {.what = "its turn"}; }
};
const Ahead ahead;

}  // namespace

Runner::Runner(Kernel& kernel, int rank, const Stacks& stacks)
    : kernel(kernel),
      rank(rank),
      fiber_(stacks.bottom(std::size_t(rank)), stacks.bytes(), &Runner::run, this) {}

void Runner::happen() { kernel.resume(*this); }

void Runner::run(void* self) {
  auto& runner = *static_cast<Runner*>(self);
  try {
    (*runner.body_)(runner);
    runner.account.finished = base::Seconds(runner.clock);
  } catch (...) {
    runner.kernel.fail(std::current_exception());
  }
  ++runner.kernel.ended_;
}

Kernel::Kernel(int ranks, const Options& options)
    : options_(options), stacks_(std::size_t(ranks), stack_bytes()) {
  runners_.reserve(std::size_t(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    runners_.push_back(std::make_unique<Runner>(*this, rank, stacks_));
}

Runner& Kernel::running() {
  if (!running_) base::ensure(false, "virtual time passes for a rank that runs");
  return *running_;
}

void Kernel::run(const std::function<void(Runner&)>& body) {
  announce_abandoning(true);
  for (const auto& runner : runners_) {
    runner->body_ = &body;
    at(0, *runner);
  }
  try {
    while (!failure_ && events_.next() != Events::never) {
      now_ = events_.next();
      events_.take().happen();
    }
    if (!failure_ && ended_ < runners_.size()) nothing_moves();
  } catch (...) {
    fail(std::current_exception());
  }
  announce_abandoning(false);
  if (failure_) std::rethrow_exception(failure_);
}

void Kernel::resume(Runner& runner) {
  // Whatever else was to wake it is void: it looks again at what it waits for.
  runner.put_off();
  runner.awaited_ = nullptr;
  runner.clock = std::max(runner.clock, now_);
  running_ = &runner;
  runner.fiber_.resume();
  running_ = nullptr;
  if (!stacks_.overflown(std::size_t(runner.rank))) return;
  // Whatever lies below has been overwritten: nothing can be trusted any more.
  throw base::Error(base::Fault::bug,
                    fmt::format("rank {} needs more than the {} KB of its stack in virtual time",
                                runner.rank, stacks_.bytes() >> 10));
}

void Kernel::spend(double seconds, std::string_view what) {
  Runner& runner = running();
  base::ensure(seconds >= 0, "time passes forwards");
  if (seconds == 0) return;
  if (options_.on_span)
    options_.on_span({.rank = runner.rank,
                      .lane = Span::Lane::device,
                      .what = what,
                      .begin = base::Seconds(runner.clock),
                      .end = base::Seconds(runner.clock + seconds)});
  runner.clock += seconds;
  runner.account.computing += base::Seconds(seconds);
}

void Kernel::settle() {
  Runner& runner = running();
  while (true) {
    if (events_.next() > runner.clock) {
      now_ = std::max(now_, runner.clock);
      return;
    }
    runner.awaited_ = &ahead;
    at(runner.clock, runner);
    runner.fiber_.give_way();
    if (now_ >= runner.clock) return;
  }
}

void Kernel::wait(const Awaited& awaited) {
  Runner& runner = running();
  const double begun = runner.clock;
  runner.awaited_ = &awaited;
  runner.fiber_.give_way();
  count_waited(runner, begun);
}

void Kernel::listen(const Awaited& awaited) {
  Runner& runner = running();
  runner.listening_ = true;
  wait(awaited);
  runner.listening_ = false;
}

void Kernel::wait_until(double moment) {
  Runner& runner = running();
  const double begun = runner.clock;
  runner.clock = std::max(runner.clock, moment);
  count_waited(runner, begun);
}

void Kernel::count_waited(Runner& runner, double since) {
  if (runner.clock == since) return;
  runner.account.waited += base::Seconds(runner.clock - since);
  if (options_.on_span)
    options_.on_span({.rank = runner.rank,
                      .lane = Span::Lane::device,
                      .what = "exposed communication",
                      .begin = base::Seconds(since),
                      .end = base::Seconds(runner.clock)});
}

void Kernel::not_yet(const Awaited& awaited) {
  Runner& runner = running();
  if (runner.polled_ != runner.clock) runner.polls_ = 0;
  runner.polled_ = runner.clock;
  if (++runner.polls_ <= patience) return;
  runner.polls_ = 0;
  const double next = events_.next();
  if (next != Events::never) wake(runner, next);
  wait(awaited);
}

void Kernel::transferred(Runner& runner, std::string_view what, double begin, double end) {
  if (end <= begin) return;
  runner.account.transferring += base::Seconds(end - begin);
  if (options_.on_span)
    options_.on_span({.rank = runner.rank,
                      .lane = Span::Lane::link,
                      .what = what,
                      .begin = base::Seconds(begin),
                      .end = base::Seconds(end)});
}

void Kernel::message_left(Runner& runner) {
  if (runner.messages_++ == 0) runner.messages_since_ = now_;
}

void Kernel::message_arrived(Runner& runner) {
  if (--runner.messages_ == 0) transferred(runner, "messages", runner.messages_since_, now_);
}

void Kernel::nothing_moves() const {
  std::string text;
  std::size_t waiting = 0;
  for (const auto& runner : runners_) {
    if (!runner->awaited_ || waiting++ >= most_named) continue;
    const comm::Absence absence = runner->awaited_->absence();
    text += fmt::format("{}rank {} waits for {} in {}", text.empty() ? "" : "; ", runner->rank,
                        named(absence.ranks, absence.need), absence.what);
  }
  if (waiting > most_named) text += fmt::format("; and {} more", waiting - most_named);
  throw base::Error(base::Fault::bug, "nothing moves any more: " + text);
}

}  // namespace parajoule::simulate
