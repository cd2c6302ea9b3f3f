#pragma once

// What is to happen in virtual time, in order: equal moments in the order of scheduling.

#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

namespace parajoule::simulate {

/// Something that happens at a moment. It outlives its entries in the queue.
class Event {
 public:
  virtual ~Event() = default;
  virtual void happen() = 0;
  /// It does not happen at the moments it was scheduled for so far.
  void put_off() { ++edition_; }

 private:
  friend class Events;
  std::uint64_t edition_ = 0;
};

/// Moments are seconds.
class Events {
 public:
  void at(double moment, Event& event) {
    queue_.push({moment, scheduled_++, &event, event.edition_});
  }
  /// The moment of the next event that has not been put off, and infinity if there is none.
  double next() {
    while (!queue_.empty() && queue_.top().edition != queue_.top().event->edition_) queue_.pop();
    return queue_.empty() ? never : queue_.top().moment;
  }
  /// Removes the next event, which there is.
  Event& take() {
    Event& event = *queue_.top().event;
    queue_.pop();
    return event;
  }

  static constexpr double never = std::numeric_limits<double>::infinity();

 private:
  struct Entry {
    double moment;
    std::uint64_t order;
    Event* event;
    std::uint64_t edition;
    bool operator<(const Entry& b) const {
      return moment > b.moment || (moment == b.moment && order > b.order);
    }
  };
  std::priority_queue<Entry> queue_;
  std::uint64_t scheduled_ = 0;
};

}  // namespace parajoule::simulate
