#include "train/batches.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

using Numbers = std::vector<std::int64_t>;

/// A hundred samples of one number each.
class Counted final : public data::Dataset {
 public:
  std::int64_t size() const override { return 100; }
  data::Shape shape() const override { return {.channels = 1, .height = 1, .width = 1}; }
  const std::vector<std::string>& class_names() const override { return names_; }
  std::int64_t label(std::int64_t) const override { return 0; }
  data::Sample read(std::int64_t index, const data::View&, std::span<float> out) const override {
    out[0] = float(index);
    return {};
  }
  data::Picture picture(std::int64_t) const override { return {}; }

 private:
  std::vector<std::string> names_{"one"};
};

/// Batches of 3, 3, 0 and 2 of the samples from `first` on.
data::Pass pass(std::int64_t first) {
  data::Pass pass;
  std::int64_t number = 5;
  for (const std::size_t count : {3u, 3u, 0u, 2u}) {
    const std::size_t begin = pass.samples.size();
    for (std::size_t i = 0; i < count; ++i) pass.samples.push_back(first + std::int64_t(begin + i));
    pass.batches.push_back({.number = number++, .range = {begin, begin + count}});
  }
  return pass;
}

Numbers samples(const data::Loader::Batch& batch) {
  EXPECT_EQ(batch.count, std::int64_t(batch.images.size()));
  for (std::size_t i = 0; i < batch.images.size(); ++i)
    EXPECT_EQ(batch.images[i], float(batch.indices[i]));
  return {batch.indices.begin(), batch.indices.end()};
}

class Drawing : public testing::TestWithParam<int> {
 protected:
  data::Loader::Options options_{.threads = GetParam()};
  Counted dataset_;
  Batches batches_{dataset_};
};

TEST_P(Drawing, WithoutChoiceTheEpochIsTakenInItsOrder) {
  batches_.begin(pass(10), options_);
  EXPECT_EQ(samples(batches_.take()), (Numbers{10, 11, 12}));
  EXPECT_EQ(samples(batches_.take()), (Numbers{13, 14, 15}));
  EXPECT_EQ(samples(batches_.take()), Numbers());
  EXPECT_EQ(samples(batches_.take()), (Numbers{16, 17}));
}

TEST_P(Drawing, ChosenSamplesTakeThePlacesFromTheBatchUnderWayOn) {
  batches_.begin(pass(10), options_);
  batches_.take();
  batches_.take();
  const auto batch = batches_.draw(Numbers{90, 91, 92, 93, 94, 95, 96});
  EXPECT_EQ(batch.number, 6);
  EXPECT_EQ(samples(batch), (Numbers{90, 91, 92}));
  EXPECT_EQ(samples(batches_.take()), Numbers());
  EXPECT_EQ(samples(batches_.take()), (Numbers{93, 94}));
  batches_.begin(pass(20), options_);  // they last into the next epoch
  EXPECT_EQ(samples(batches_.take()), (Numbers{95, 96}));
  EXPECT_EQ(samples(batches_.take()), (Numbers{23, 24, 25}));
}

TEST_P(Drawing, ANewChoiceReplacesWhatIsLeft) {
  batches_.begin(pass(10), options_);
  batches_.take();
  batches_.draw(Numbers{90, 91, 92, 93, 94, 95, 96});
  batches_.take();
  EXPECT_EQ(samples(batches_.draw(Numbers{80, 81, 82})), (Numbers{80, 81, 82}));
  batches_.take();
  EXPECT_EQ(samples(batches_.take()), (Numbers{16, 17}));
}

TEST_P(Drawing, WhatIsLeftIsSavedBetweenTwoSteps) {
  batches_.begin(pass(10), options_);
  batches_.take();
  batches_.draw(Numbers{90, 91, 92, 93, 94});
  base::Archive archive;
  batches_.save(archive);
  Batches later(dataset_);
  later.load(archive);
  later.begin(pass(40), options_);
  EXPECT_EQ(samples(later.take()), (Numbers{93, 94}));
  EXPECT_EQ(samples(later.take()), (Numbers{43, 44, 45}));
}

TEST_P(Drawing, TellsOfEachBatchThatIsRead) {
  Numbers told;
  batches_.on_taken([&](const data::Loader::Batch& batch) { told.push_back(batch.count); });
  batches_.begin(pass(10), options_);
  batches_.take();
  batches_.draw(Numbers{90, 91});
  EXPECT_EQ(told, (Numbers{3, 2}));
}

INSTANTIATE_TEST_SUITE_P(Threads, Drawing, testing::Values(0, 2));

}  // namespace
}  // namespace parajoule::train
