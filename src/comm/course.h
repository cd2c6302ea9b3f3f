#pragma once

// An exchange written as its paper has it.

#include <coroutine>
#include <exception>
#include <utility>

#include "comm/communicator.h"

namespace parajoule::comm {

/// One rank's way through an exchange of several steps: a coroutine that starts transfers, awaits
/// them, and goes on, so that it reads from top to bottom. It may await other courses as its parts.
/// What it awaits is a variable of it, not a temporary.
///
///   Course greet(Communicator& group, base::Vector out, base::Vector in, int partner) {
///     Pending receiving = group.start_receive(in, partner, 0);
///     Pending sending = group.start_send(out, partner, 0);
///     co_await receiving;
///     co_await sending;
///   }
///
/// It begins with the first `advance`. A failed transfer throws where it is awaited.
class Course {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Course(Handle handle) : handle_(handle) {}
  Course(Course&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Course& operator=(Course&&) = delete;
  ~Course() {
    if (handle_) handle_.destroy();
  }

  /// Goes on as far as it can without waiting. Does nothing while it is being advanced already.
  void advance();
  /// At its end, or failed.
  bool finished() const { return handle_.done(); }
  /// What it has failed with, if it has.
  const std::exception_ptr& failure() const;
  /// What it waits for, unless it is finished or being advanced.
  Pending* awaited() const;
  /// Throws `why` where it waits.
  void fail(std::exception_ptr why);

 private:
  friend promise_type;
  Handle handle_;
};

/// What a course knows of itself; of its parts, the outermost knows it.
struct Course::promise_type {
  promise_type* outermost = this;
  Handle whole = nullptr;  ///< of which this is a part
  std::exception_ptr failure = nullptr;

  // Of the outermost only.
  Handle innermost = nullptr;
  Pending* awaited = nullptr;
  std::exception_ptr broken = nullptr;  ///< how the awaited transfer failed
  bool advancing = false;

  struct Arrival {
    promise_type& outermost;
    Pending& pending;
    bool await_ready() { return pending.done(); }
    void await_suspend(Handle own) {
      outermost.innermost = own;
      outermost.awaited = &pending;
    }
    void await_resume() {
      if (outermost.broken) std::rethrow_exception(std::exchange(outermost.broken, nullptr));
      pending.wait();
    }
  };

  struct Part {
    Handle part;
    bool await_ready() const noexcept { return false; }
    Handle await_suspend(Handle own) noexcept {
      part.promise().outermost = own.promise().outermost;
      part.promise().whole = own;
      return part;
    }
    void await_resume() {
      if (part.promise().failure) std::rethrow_exception(part.promise().failure);
    }
  };

  struct End {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle own) noexcept {
      if (own.promise().whole) return own.promise().whole;
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  Course get_return_object() { return Course(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept {
    innermost = Handle::from_promise(*this);
    return {};
  }
  End final_suspend() noexcept { return {}; }
  void return_void() {}
  void unhandled_exception() { failure = std::current_exception(); }
  Arrival await_transform(Pending& pending) { return {*outermost, pending}; }
  Part await_transform(Course& part) { return {part.handle_}; }
};

inline const std::exception_ptr& Course::failure() const { return handle_.promise().failure; }

inline Pending* Course::awaited() const { return handle_.promise().awaited; }

inline void Course::fail(std::exception_ptr why) {
  handle_.promise().broken = std::move(why);
  advance();
}

inline void Course::advance() {
  promise_type& own = handle_.promise();
  if (own.advancing) return;
  own.advancing = true;
  while (!handle_.done()) {
    try {
      if (own.awaited && !own.broken && !own.awaited->done()) break;
    } catch (...) {
      own.broken = std::current_exception();
    }
    own.awaited = nullptr;
    own.innermost.resume();
  }
  own.advancing = false;
}

}  // namespace parajoule::comm
