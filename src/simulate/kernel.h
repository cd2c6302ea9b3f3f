#pragma once

// The clock of a virtual world and who runs.

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/moving.h"
#include "simulate/account.h"
#include "simulate/events.h"
#include "simulate/fiber.h"
#include "simulate/options.h"
#include "simulate/stacks.h"

namespace parajoule::simulate {

class Kernel;

/// What a rank can wait for.
class Awaited {
 public:
  virtual ~Awaited() = default;
  virtual comm::Absence absence() const = 0;
};

/// A rank: a fiber with a clock. Its clock may be ahead of the world's: computing concerns nobody
/// else. It waits until the world has caught up (Kernel::settle) before it looks at what others do.
class Runner final : public Event {
 public:
  Runner(Kernel& kernel, int rank, const Stacks& stacks);
  void happen() override;

  Kernel& kernel;
  const int rank;
  double clock = 0;  ///< seconds
  Account account = {};
  /// Collectives of a rank follow each other on its way within the node, and on that to others:
  /// when the values of the last one so far have left it free.
  std::array<double, 2> way_free = {};
  double collectives_until = 0;  ///< when all of them so far are through

 private:
  friend class Kernel;
  static void run(void* self);

  const std::function<void(Runner&)>* body_ = nullptr;
  Fiber fiber_;
  const Awaited* awaited_ = nullptr;  ///< while it waits
  bool listening_ = false;
  int polls_ = 0;       ///< answered "not yet" since its clock last moved
  double polled_ = -1;  ///< the clock then
  int messages_ = 0;    ///< on their way from it
  double messages_since_ = 0;
};

class Kernel {
 public:
  Kernel(int ranks, const Options& options);

  const Options& options() const { return options_; }
  double now() const { return now_; }
  Runner& runner(int rank) { return *runners_[std::size_t(rank)]; }
  /// The rank that runs. A bug outside of `run`.
  Runner& running();

  /// Runs `body` on every rank. Rethrows what was thrown first; the other ranks are then left where
  /// they are.
  void run(const std::function<void(Runner&)>& body);

  void at(double moment, Event& event) { events_.at(moment, event); }

  // Called on the rank that runs:

  /// Its clock moves on by `seconds` in which it computes.
  void spend(double seconds, std::string_view what);
  /// Returns when all that happens before its clock has happened.
  void settle();
  /// Returns when another rank or an event has called `wake`; its clock is then the world's. What
  /// it waits for need not have come: it looks again.
  void wait(const Awaited& awaited);
  /// The same, until something is told to this rank.
  void listen(const Awaited& awaited);
  /// Its clock moves on to `moment`, if that is later, and the time counts as waited.
  void wait_until(double moment);
  /// A question of this rank was answered "not yet". Who asks for ever in one moment would stop the
  /// clock: after `patience` questions it waits for what happens next.
  void not_yet(const Awaited& awaited);

  /// A rank in `wait` goes on at `moment`.
  void wake(Runner& runner, double moment) { at(moment, runner); }
  /// A message from or to this rank has arrived: it goes on, if it listens.
  void tell(Runner& runner) {
    if (runner.listening_) wake(runner, now_);
  }
  /// A collective of this rank moves values from `begin` to `end`.
  void transferred(Runner& runner, std::string_view what, double begin, double end);
  /// A message of this rank leaves now, or has arrived now.
  void message_left(Runner& runner);
  void message_arrived(Runner& runner);

 private:
  friend class Runner;
  static constexpr int patience = 1000;

  void count_waited(Runner& runner, double since);
  void resume(Runner& runner);
  void fail(std::exception_ptr why) { failure_ = std::move(why); }
  [[noreturn]] void nothing_moves() const;

  Options options_;
  Stacks stacks_;
  Events events_;
  double now_ = 0;
  std::vector<std::unique_ptr<Runner>> runners_;
  Runner* running_ = nullptr;
  std::size_t ended_ = 0;
  std::exception_ptr failure_;
};

}  // namespace parajoule::simulate
