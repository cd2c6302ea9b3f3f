// What is gained by summing gradients while the backward pass still computes, and who should drive
// the sums: the pass itself, asking between its layers, or a thread of its own. A pass is so many
// pieces of equal work, after each of which a bucket of gradients is ready.
//
//   bench/overlap.sh [REPEATS [MILLISECONDS]]

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>

#include "base/error.h"
#include "bench/spread.h"
#include "comm/mpi.h"

namespace parajoule::bench {
namespace {

constexpr int pieces = 48;
constexpr int asks_per_piece = 4;
constexpr std::size_t bucket = 524'288;  // 2 MiB of float32; all of them about a ResNet-50

using Clock = std::chrono::steady_clock;

/// Work of one core that touches no memory but its own cache.
class Work {
 public:
  /// As much as takes `seconds` when the core has nothing else to do.
  explicit Work(double seconds) {
    double least = 1e9;
    for (int turn = 0; turn < 20; ++turn) {
      const auto begin = Clock::now();
      run(unit);
      least = std::min(least, base::Seconds(Clock::now() - begin).count());
    }
    turns_ = int(double(unit) * seconds / least);
  }
  void operator()() { run(turns_); }
  Work part(int parts) const {
    Work one = *this;
    one.turns_ /= parts;
    return one;
  }

 private:
  static constexpr int unit = 200;
  void run(int turns) {
    for (int turn = 0; turn < turns; ++turn)
      for (float& value : values_) value = value * 0.999F + 1;
  }
  std::vector<float> values_ = std::vector<float>(4096, 1);
  int turns_ = unit;
};

class Passes {
 public:
  Passes(comm::Communicator& world, double seconds_of_piece)
      : world_(world),
        gradients_(world.allocate(base::Element::float32, bucket * pieces)),
        ask_(Work(seconds_of_piece).part(asks_per_piece)) {}

  base::Vector part(int piece) const {
    return gradients_[{std::size_t(piece) * bucket, std::size_t(piece + 1) * bucket}];
  }

  void compute() {
    for (int piece = 0; piece < pieces; ++piece) work([] {});
  }
  void sum() {
    for (int piece = 0; piece < pieces; ++piece) world_.sum(part(piece));
  }
  void first_all_then_sum() {
    compute();
    sum();
  }
  void start_and_wait_at_the_end() {
    start([](auto&) {});
  }
  void start_and_ask_between() {
    start([](std::vector<comm::Pending>& sums) {
      if (!sums.empty()) sums.back().done();
    });
  }

  /// A thread that takes over the communicator for this pass, on the cores of the rank.
  void thread_of_its_own() {
    std::mutex mutex;
    std::condition_variable ready;
    int finished = 0;
    std::thread thread([&] {
      for (int piece = 0; piece < pieces; ++piece) {
        std::unique_lock lock(mutex);
        ready.wait(lock, [&] { return finished > piece; });
        lock.unlock();
        world_.sum(part(piece));
      }
    });
    for (int piece = 0; piece < pieces; ++piece) {
      work([] {});
      const std::lock_guard lock(mutex);
      ++finished;
      ready.notify_one();
    }
    thread.join();
  }

 private:
  template <class Between>
  void start(Between between) {
    std::vector<comm::Pending> sums;
    for (int piece = 0; piece < pieces; ++piece) {
      work([&] { between(sums); });
      sums.push_back(world_.start_sum(part(piece)));
    }
    for (comm::Pending& sum : sums) sum.wait();
  }
  template <class Between>
  void work(Between between) {
    for (int ask = 0; ask < asks_per_piece; ++ask) {
      ask_();
      between();
    }
  }

  comm::Communicator& world_;
  base::Vector gradients_;
  Work ask_;
};

struct Way {
  const char* name;
  void (Passes::*act)();
  std::vector<double> seconds = {};
};

void measure(comm::Communicator& world, int repeats, double seconds_of_piece) {
  Passes passes(world, seconds_of_piece);
  std::vector<Way> ways = {{"compute alone", &Passes::compute},
                           {"sums alone", &Passes::sum},
                           {"first compute, then sum", &Passes::first_all_then_sum},
                           {"start, wait at the end", &Passes::start_and_wait_at_the_end},
                           {"start, ask between layers", &Passes::start_and_ask_between},
                           {"a thread for the sums", &Passes::thread_of_its_own}};
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    for (Way& way : ways) {
      world.barrier();
      const auto begin = Clock::now();
      (passes.*way.act)();
      const double taken = world.maximum(base::Seconds(Clock::now() - begin).count());
      if (repeat > 0) way.seconds.push_back(taken);
    }
  }
  if (world.rank() != 0) return;
  fmt::print(
      "{} ranks on {} nodes, {} buckets of {} float32; milliseconds: median (least ... most)\n",
      world.size(), world.nodes().count(), pieces, bucket);
  for (const Way& way : ways) fmt::print("{:26} {}\n", way.name, spread(way.seconds, 1e3));
}

}  // namespace
}  // namespace parajoule::bench

// overlap REPEATS MILLISECONDS_OF_A_PIECE [RANKS_PER_NODE]
int main(int count, char** arguments) {
  using namespace parajoule;
  const int repeats = count > 1 ? std::atoi(arguments[1]) : 15;
  const double piece = count > 2 ? std::atof(arguments[2]) / 1e3 : 2e-3;
  comm::Options options;
  if (count > 3) options.ranks_per_node = std::atoi(arguments[3]);
  comm::Mpi mpi(options);
  try {
    mpi.run([&](comm::Communicator& world) { bench::measure(world, repeats, piece); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    mpi.abort(1);
  }
}
