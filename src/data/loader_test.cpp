#include "data/loader.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::data {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

/// Samples of three floats that tell who they are. Some cannot be read.
class Told final : public Dataset {
 public:
  explicit Told(std::int64_t size) : size_(size) {}

  std::int64_t size() const override { return size_; }
  Shape shape() const override { return {.channels = 3, .height = 1, .width = 1}; }
  const std::vector<std::string>& class_names() const override { return class_names_; }
  std::int64_t label(std::int64_t index) const override { return index % 7; }
  Picture picture(std::int64_t) const override { return {}; }

  Sample read(std::int64_t index, const View& view, std::span<float> out) const override {
    ++reads_;
    before(index);
    if (bad.contains(index))
      throw base::Error(base::Fault::input, "file " + std::to_string(index) + ": damaged");
    if (const auto found = failing.find(index); found != failing.end()) found->second();
    out[0] = float(index);
    out[1] = view.augmented ? float(view.augmented->epoch) : -1;
    out[2] = view.augmented ? float(base::stream(view.augmented->seed, base::Purpose::augmentation,
                                                 std::uint64_t(index))
                                        .uniform())
                            : 0;
    return {.label = label(index), .warnings = mended.contains(index) ? 2 : 0};
  }

  std::set<std::int64_t> bad;
  std::set<std::int64_t> mended;
  std::map<std::int64_t, std::function<void()>> failing;
  std::function<void(std::int64_t)> before = [](std::int64_t) {};
  std::int64_t reads() const { return reads_; }

 private:
  std::int64_t size_;
  std::vector<std::string> class_names_ = std::vector<std::string>(7);
  mutable std::atomic<std::int64_t> reads_ = 0;
};

/// What a batch held, copied.
struct Taken {
  std::int64_t number;
  Numbers indices;
  Numbers labels;
  std::vector<float> images;
  bool operator==(const Taken&) const = default;
};

Taken take(Loader& loader) {
  const Loader::Batch batch = loader.take();
  EXPECT_EQ(batch.count, std::int64_t(batch.indices.size()));
  EXPECT_EQ(batch.images.size(), batch.indices.size() * 3);
  return {batch.number,
          {batch.indices.begin(), batch.indices.end()},
          {batch.labels.begin(), batch.labels.end()},
          {batch.images.begin(), batch.images.end()}};
}

std::vector<Taken> take_all(Loader& loader) {
  std::vector<Taken> all;
  while (loader.remaining() > 0) all.push_back(take(loader));
  return all;
}

Pass epoch_of(std::int64_t samples, std::int64_t batch) {
  return training_pass({.samples = samples, .global_batch_size = batch}, 3, 1);
}

/// One batch a list of samples.
Pass pass_of(const std::vector<Numbers>& batches) {
  Pass pass;
  for (const Numbers& batch : batches) {
    const std::size_t begin = pass.samples.size();
    pass.samples.insert(pass.samples.end(), batch.begin(), batch.end());
    pass.batches.push_back(
        {.number = std::int64_t(pass.batches.size()), .range = {begin, pass.samples.size()}});
  }
  return pass;
}

TEST(Loader, HandsOutWhatThePassSaysInItsOrder) {
  const Told set(103);
  Loader loader(set, epoch_of(103, 10), {.view = View::training(5, 9)});
  EXPECT_EQ(loader.remaining(), 11);
  const Numbers expected = order(103, 3, 1);
  std::size_t at = 0;
  for (const Taken& batch : take_all(loader))
    for (std::size_t i = 0; i < batch.indices.size(); ++i, ++at) {
      EXPECT_EQ(batch.number, std::int64_t(at / 10));
      EXPECT_EQ(batch.indices[i], expected[at]);
      EXPECT_EQ(batch.labels[i], expected[at] % 7);
      EXPECT_EQ(batch.images[3 * i], float(expected[at]));
      EXPECT_EQ(batch.images[3 * i + 1], 9);
    }
  EXPECT_EQ(at, 103u);
  EXPECT_EQ(loader.remaining(), 0);
}

class LoaderThreads : public testing::TestWithParam<int> {};

TEST_P(LoaderThreads, DoNotChangeTheBatches) {
  Told set(1000);
  set.bad = {3, 500, 501, 502, 999};
  for (const OnBadSample policy : {OnBadSample::skip, OnBadSample::replace}) {
    const Loader::Options one{.view = View::training(5, 9), .on_bad_sample = policy};
    Loader expected(set, epoch_of(1000, 64), one);
    Loader::Options many = one;
    many.threads = GetParam();
    many.batches_ahead = 1 + GetParam() / 2;
    Loader loader(set, epoch_of(1000, 64), many);
    EXPECT_EQ(take_all(loader), take_all(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Counts, LoaderThreads, testing::Values(0, 1, 2, 3, 8));

TEST(Loader, ABatchWithoutSamplesIsABatch) {
  const Told set(10);
  for (const int threads : {0, 1, 2}) {
    Loader loader(set, pass_of({{}, {1, 2}, {}, {}, {3}, {}}), {.threads = threads});
    std::vector<std::size_t> sizes;
    for (const Taken& batch : take_all(loader)) sizes.push_back(batch.indices.size());
    EXPECT_THAT(sizes, ElementsAre(0, 2, 0, 0, 1, 0));
  }
  Loader nothing(set, pass_of({{}, {}}), {});
  EXPECT_EQ(take_all(nothing).size(), 2u);
  Loader empty(set, {}, {});
  EXPECT_EQ(empty.remaining(), 0);
}

TEST(Loader, BeginsWithinAnEpochWhereTheWholeEpochWouldBe) {
  const Told set(50);
  const Shards shards{.samples = 50, .global_batch_size = 8};
  Loader whole(set, training_pass(shards, 3, 1), {.view = View::training(1, 1)});
  Loader rest(set, training_pass(shards, 3, 1, 3), {.view = View::training(1, 1)});
  for (int i = 0; i < 3; ++i) whole.take();
  EXPECT_EQ(take_all(rest), take_all(whole));
}

TEST(Loader, ReadsAheadButNoFurtherThanItMay) {
  for (const int ahead : {1, 2, 4}) {
    Told set(1000);
    Loader loader(set, epoch_of(1000, 10), {.threads = 3, .batches_ahead = ahead});
    const auto settled = [&](std::int64_t expected) {
      while (set.reads() < expected) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(20ms);
      return set.reads();
    };
    EXPECT_EQ(settled((ahead + 1) * 10), (ahead + 1) * 10);
    loader.take();
    EXPECT_EQ(settled((ahead + 1) * 10), (ahead + 1) * 10) << "the batch taken is still in use";
    loader.take();
    EXPECT_EQ(settled((ahead + 2) * 10), (ahead + 2) * 10);
  }
}

TEST(Loader, ABatchHoldsUntilTheNextIsTaken) {
  const Told set(100);
  Loader loader(set, epoch_of(100, 10), {.threads = 2});
  const Loader::Batch batch = loader.take();
  const std::vector<float> before(batch.images.begin(), batch.images.end());
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), batch.images.begin()));
}

TEST(Loader, TellsHowLongItWasWaitedFor) {
  Told set(4);
  set.before = [](std::int64_t) { std::this_thread::sleep_for(15ms); };
  for (const int threads : {0, 1}) {
    Loader loader(set, pass_of({{0, 1}, {2, 3}}), {.threads = threads});
    EXPECT_GT(loader.take().waited, 25ms);
    EXPECT_GT(loader.waited(), 25ms);
  }
}

std::string failure(Loader& loader, base::Fault fault) {
  try {
    while (loader.remaining() > 0) loader.take();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, fault);
    return error.what();
  }
  return "taken";
}

TEST(Loader, ABadSampleEndsThePassAndIsNamed) {
  Told set(100);
  set.bad = {42, 43};
  for (const int threads : {0, 1, 4}) {
    Loader loader(set, pass_of({{1, 2}, {3, 43, 42, 4}, {5}}), {.threads = threads});
    loader.take();
    try {
      loader.take();
      ADD_FAILURE() << "taken";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::input);
      EXPECT_STREQ(error.what(),
                   "file 43: damaged; to go on without it: on_bad_sample = \"skip\" or "
                   "\"replace\"");
    }
    EXPECT_THROW(loader.take(), base::Error) << "it goes on as if nothing had been";
  }
}

TEST(Loader, ASkippedSampleLeavesNoHole) {
  Told set(100);
  set.bad = {10, 13, 20};
  set.mended = {11, 21};
  Loader loader(set, pass_of({{10, 11, 12, 13}, {20}, {21, 22}}),
                {.threads = 2, .on_bad_sample = OnBadSample::skip});
  Loader::Batch batch = loader.take();
  EXPECT_EQ(batch.planned, 4);
  EXPECT_EQ(batch.count, 2);
  EXPECT_THAT(batch.indices, ElementsAre(11, 12));
  EXPECT_THAT(batch.labels, ElementsAre(4, 5));
  EXPECT_EQ(batch.images[0], 11);
  EXPECT_EQ(batch.images[3], 12);
  EXPECT_EQ(batch.warnings, 2);
  ASSERT_EQ(batch.bad.size(), 2u);
  EXPECT_EQ(batch.bad[0].index, 10);
  EXPECT_EQ(batch.bad[0].why, "file 10: damaged");
  EXPECT_FALSE(batch.bad[0].replaced_by);
  EXPECT_EQ(batch.bad[1].index, 13);
  batch = loader.take();
  EXPECT_EQ(batch.planned, 1);
  EXPECT_EQ(batch.count, 0);
  EXPECT_EQ(batch.warnings, 0);
  EXPECT_THAT(loader.take().indices, ElementsAre(21, 22));
}

TEST(Loader, AReplacementDependsOnSeedEpochAndIndexAlone) {
  Told set(100);
  set.bad = {10, 11, 12, 13};
  const auto replacement = [&](const Numbers& batch, const View& view) {
    Loader loader(set, pass_of({batch}), {.view = view, .on_bad_sample = OnBadSample::replace});
    const Loader::Batch taken = loader.take();
    EXPECT_EQ(taken.count, taken.planned);
    EXPECT_EQ(taken.bad.size(), 1u);
    EXPECT_EQ(taken.bad[0].index, 10);
    const std::int64_t other = *taken.bad[0].replaced_by;
    EXPECT_THAT(taken.indices, testing::Contains(other));
    EXPECT_FALSE(set.bad.contains(other));
    return other;
  };
  const std::int64_t first = replacement({10, 1}, View::training(1, 0));
  EXPECT_EQ(replacement({2, 3, 10}, View::training(1, 0)), first);
  std::set<std::int64_t> others;
  for (int epoch = 0; epoch < 20; ++epoch)
    others.insert(replacement({10}, View::training(1, epoch)));
  EXPECT_GT(others.size(), 10u);
}

TEST(Loader, InEvaluationNothingIsCountedTwice) {
  Told set(100);
  set.bad = {10};
  for (const View& view : {View::evaluation(), View::training(1, 0)}) {
    Loader loader(set, evaluation_pass(12, 12, 0, 1),
                  {.view = view, .on_bad_sample = OnBadSample::replace});
    const Loader::Batch batch = loader.take();
    EXPECT_THAT(batch.indices, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11));
    EXPECT_FALSE(batch.bad.at(0).replaced_by);
  }
}

TEST(Loader, ADataSetOfBadSamplesIsNotReplaced) {
  Told set(20);
  for (std::int64_t i = 0; i < 20; ++i) set.bad.insert(i);
  Loader loader(set, epoch_of(20, 5),
                {.view = View::training(1, 0), .on_bad_sample = OnBadSample::replace});
  EXPECT_THAT(failure(loader, base::Fault::input), HasSubstr("nor can 10 samples drawn"));
}

TEST(Loader, WhatTheMachineIsToBlameForIsNeverSkipped) {
  Told set(20);
  set.failing[7] = [] { throw base::Error(base::Fault::environment, "file 7: too many open"); };
  Loader open(set, epoch_of(20, 5), {.on_bad_sample = OnBadSample::skip});
  EXPECT_EQ(failure(open, base::Fault::environment), "file 7: too many open");
  set.failing[7] = [] { throw std::bad_alloc(); };
  Loader memory(set, epoch_of(20, 5), {.on_bad_sample = OnBadSample::skip});
  EXPECT_EQ(failure(memory, base::Fault::environment), "sample 7: no memory to read it");
  set.failing[7] = [] { throw std::out_of_range("index"); };
  Loader bug(set, epoch_of(20, 5), {.on_bad_sample = OnBadSample::skip});
  EXPECT_EQ(failure(bug, base::Fault::bug), "sample 7: index");
}

TEST(Loader, EndsAfterTheSamplesUnderWay) {
  Told set(1000);
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  std::atomic<int> waiting = 0;
  set.before = [&](std::int64_t) {
    ++waiting;
    gone.wait();
  };
  {
    Loader loader(set, epoch_of(1000, 500), {.threads = 2, .batches_ahead = 1});
    // small samples are claimed many at a time: both batches are under way
    while (waiting < 2) std::this_thread::yield();
    loader.stop();
    go.set_value();
  }
  EXPECT_EQ(set.reads(), 1000);
}

TEST(Loader, StoppingWakesWhoWaits) {
  Told set(10);
  std::promise<void> go;
  const std::shared_future<void> gone = go.get_future().share();
  set.before = [&](std::int64_t) { gone.wait(); };
  Loader loader(set, epoch_of(10, 10), {});
  std::jthread stopper([&] {
    while (set.reads() == 0) std::this_thread::yield();
    loader.stop();
  });
  EXPECT_THROW(loader.take(), base::Error);
  go.set_value();
}

TEST(Loader, TakingMoreThanThePassHoldsIsABug) {
  const Told set(10);
  Loader loader(set, pass_of({{1}}), {});
  loader.take();
  EXPECT_THROW(loader.take(), base::Error);
}

}  // namespace
}  // namespace parajoule::data
