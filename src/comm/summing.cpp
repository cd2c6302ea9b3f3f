#include <numeric>
#include <utility>

#include "base/error.h"
#include "comm/algorithms.h"
#include "comm/sums.h"

namespace parajoule::comm {
namespace {

std::vector<int> everyone(const Communicator& group) {
  std::vector<int> ranks(std::size_t(group.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

/// Where the messages of sums travel: a group of the same ranks, whose tags are the sums' alone.
struct Summing::Lane {
  explicit Lane(Communicator& inner) : group(inner.group(everyone(inner))) {}

  std::unique_ptr<Communicator> group;
  std::uint32_t sums = 0;
  int next_tag() { return int(sums++ & 0x7fffffff); }
};

/// The sums that are under way on this rank.
class Summing::Work {
 public:
  /// All go on as far as they can; but not this one.
  void push(const Course* but = nullptr) {
    // Where ranks are fibers others may come and go meanwhile.
    for (std::size_t i = 0; i < courses_.size(); ++i)
      if (courses_[i] != but) courses_[i]->advance();
  }
  /// One that waits for something to come, if there is one.
  Course* waiting() const {
    for (Course* course : courses_)
      if (!course->finished() && course->awaited()) return course;
    return nullptr;
  }
  void add(Course& course) { courses_.push_back(&course); }
  void remove(Course& course) { std::erase(courses_, &course); }

  Spares spares;

 private:
  std::vector<Course*> courses_;  ///< in the order of their start
};

/// Something of the communicator below.
class Summing::Passed final : public Pending::Transfer {
 public:
  Passed(Pending pending, std::shared_ptr<Work> work)
      : pending_(std::move(pending)), work_(std::move(work)) {}

  bool done() override {
    work_->push();
    return pending_.done();
  }
  void wait() override {
    wait_or([] { return false; });
  }
  void wait_or(const std::function<bool()>& enough) override {
    work_->push();
    pending_.wait_or([&] {
      work_->push();
      return enough();
    });
  }

 private:
  Pending pending_;
  std::shared_ptr<Work> work_;
};

/// A sum.
class Summing::Underway final : public Pending::Transfer {
 public:
  Underway(base::Vector values, std::shared_ptr<Lane> lane, std::shared_ptr<Work> work,
           const std::function<Course(Summands&, Circle)>& algorithm)
      : lane_(std::move(lane)),
        work_(std::move(work)),
        sum_(*lane_->group, values, lane_->next_tag(), work_->spares),
        course_(algorithm(sum_, {.ranks = everyone(*lane_->group), .own = lane_->group->rank()})) {
    work_->add(course_);
    course_.advance();
  }
  ~Underway() override { work_->remove(course_); }

  bool done() override {
    work_->push();
    return ended();
  }
  void wait() override {
    wait_or([] { return false; });
  }
  void wait_or(const std::function<bool()>& enough) override {
    bool said = false;
    while (!done() && !said && !(said = enough())) {
      const std::exception_ptr failure = sleep([&] {
        work_->push(&course_);
        return said = enough();
      });
      if (failure) course_.fail(failure);
    }
  }

 private:
  bool ended() const {
    if (course_.finished() && course_.failure()) std::rethrow_exception(course_.failure());
    return course_.finished();
  }

  /// Until what it waits for has come, or `enough`. A failure is that of the course: its transfers
  /// are abandoned as it unwinds, not waited for.
  std::exception_ptr sleep(const std::function<bool()>& enough) {
    try {
      course_.awaited()->wait_or(enough);
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  std::shared_ptr<Lane> lane_;
  std::shared_ptr<Work> work_;
  Summands sum_;
  Course course_;
};

Summing::Summing(Communicator& inner, const Sum& sum, const base::Settings& settings)
    : inner_(&inner),
      algorithm_(sum.make(sum.options.empty() || !settings.entries().empty()
                              ? settings
                              : base::Settings(sum.name, sum.options, {}))),
      work_(std::make_shared<Work>()),
      lane_(std::make_shared<Lane>(inner)) {}

Summing::Summing(std::unique_ptr<Communicator> owned, SumAlgorithm algorithm,
                 std::shared_ptr<Work> work)
    : owned_(std::move(owned)),
      inner_(owned_.get()),
      algorithm_(std::move(algorithm)),
      work_(std::move(work)),
      lane_(std::make_shared<Lane>(*inner_)) {}

Summing::~Summing() = default;

Pending Summing::passed(Pending pending) {
  return Pending(std::make_unique<Passed>(std::move(pending), work_));
}

Pending Summing::start(const Collective& call) {
  work_->push();
  const bool own = call.codec || (algorithm_ && size() > 1);
  if (call.kind != Collective::Kind::sum || !own) return passed(inner_->start(call));
  if (!call.values.empty() && call.values.place() == base::Place::device)
    base::ensure(false, "values that ranks exchange lie on the host");
  if (call.factor != 1) call.values.scale(call.factor);
  SumAlgorithm algorithm = algorithm_;
  if (const Codec* codec = call.codec) {
    algorithm = [codec](Summands& sum, Circle circle) {
      return coded_ring(sum, std::move(circle), *codec);
    };
  }
  return Pending(std::make_unique<Underway>(call.values, lane_, work_, algorithm));
}

Pending Summing::start_send(base::Vector values, int to, int tag) {
  work_->push();
  return passed(inner_->start_send(values, to, tag));
}

Pending Summing::start_receive(base::Vector values, int from, int tag) {
  work_->push();
  return passed(inner_->start_receive(values, from, tag));
}

std::optional<Communicator::Arrived> Summing::arrived(int from, int tag) {
  work_->push();
  return inner_->arrived(from, tag);
}

Communicator::Arrived Summing::await(int from, int tag) {
  while (true) {
    if (const auto message = arrived(from, tag)) return *message;
    Course* const course = work_->waiting();
    if (!course) return inner_->await(from, tag);
    std::optional<Arrived> message;
    course->awaited()->wait_or([&] {
      work_->push(course);
      message = inner_->arrived(from, tag);
      return message.has_value();
    });
    if (message) return *message;
  }
}

std::unique_ptr<Communicator> Summing::group(std::span<const int> ranks) {
  work_->push();
  return std::unique_ptr<Communicator>(new Summing(inner_->group(ranks), algorithm_, work_));
}

Pending start_ring_sum(Communicator& group, base::Vector values, double factor,
                       const Codec* codec) {
  return group.start(
      {.kind = Collective::Kind::sum, .values = values, .factor = factor, .codec = codec});
}

}  // namespace parajoule::comm
