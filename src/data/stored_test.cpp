#include "data/stored.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Normalisation as_is{.channels = {{}, {}}};

/// One picture (2,2,3): 11 ... 16 and 21 ... 26.
Stored stored(std::int64_t random_crop, bool flip) {
  return Stored({.shape = {2, 2, 3},
                 .pixels = {11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26},
                 .labels = {1},
                 .class_names = {"a", "b"}},
                {.normalisation = as_is, .random_crop = random_crop, .flip = flip});
}

std::vector<float> read(const Stored& set, const View& view) {
  std::vector<float> out(12);
  EXPECT_EQ(set.read(0, view, out).label, 1);
  return out;
}

TEST(Stored, EvaluationShowsThePictureAsItIs) {
  const Stored set = stored(2, true);
  EXPECT_THAT(read(set, View::evaluation()),
              ElementsAre(11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26));
  EXPECT_THAT(read(set, {.axes = Axes::channels_last}),
              ElementsAre(11, 21, 12, 22, 13, 23, 14, 24, 15, 25, 16, 26));
  EXPECT_THAT(set.picture(0).pixels, ElementsAre(11, 21, 12, 22, 13, 23, 14, 24, 15, 25, 16, 26));
}

TEST(Stored, HalfOfThePicturesAreMirrored) {
  const Stored set = stored(0, true);
  std::map<std::vector<float>, int> seen;
  for (int epoch = 0; epoch < 400; ++epoch) ++seen[read(set, View::training(3, epoch))];
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen.count({11, 12, 13, 14, 15, 16, 21, 22, 23, 24, 25, 26}), 1u);
  const int mirrored = seen[{13, 12, 11, 16, 15, 14, 23, 22, 21, 26, 25, 24}];
  EXPECT_NEAR(mirrored, 200, 50);  // five deviations
}

TEST(Stored, ARandomCropShiftsThePictureOverBlack) {
  const Stored set = stored(1, false);
  std::set<std::vector<float>> seen;
  for (int epoch = 0; epoch < 400; ++epoch) seen.insert(read(set, View::training(3, epoch)));
  EXPECT_EQ(seen.size(), 9u);
  EXPECT_TRUE(seen.contains({0, 0, 0, 0, 11, 12, 0, 0, 0, 0, 21, 22}));
  EXPECT_TRUE(seen.contains({15, 16, 0, 0, 0, 0, 25, 26, 0, 0, 0, 0}));
}

TEST(Stored, ASampleDependsOnSeedEpochAndIndexAlone) {
  const Stored set = stored(1, true);
  const auto view = View::training(5, 2);
  EXPECT_EQ(read(set, view), read(set, view));
  int others = 0;
  for (std::uint64_t seed = 6; seed < 16; ++seed)
    others += read(set, View::training(seed, 2)) != read(set, view);
  EXPECT_GT(others, 5);
}

TEST(Stored, BlackIsNormalisedToo) {
  Stored set(
      {.shape = {1, 1, 1}, .pixels = {255}, .labels = {0}, .class_names = {"a"}},
      {.normalisation = {.channels = {{.scale = 1 / 255.0f, .shift = -0.5f}}}, .random_crop = 1});
  std::set<float> seen;
  for (int epoch = 0; epoch < 50; ++epoch) {
    float value;
    set.read(0, View::training(1, epoch), {&value, 1});
    seen.insert(value);
  }
  EXPECT_THAT(seen, ElementsAre(-0.5f, 0.5f));
}

TEST(Normalisation, WantsOneNumberOrOneAChannel) {
  const std::vector<base::Option> options = looks_options({.mean = "[0.5]", .deviation = "[0.25]"});
  const auto of = [&](const std::map<std::string, base::Value>& given) {
    return Normalisation::of("set", base::Settings("set", options, given), 3);
  };
  EXPECT_EQ(of({}).channels.size(), 3u);
  EXPECT_FLOAT_EQ(of({}).channels[2].table()[255], 2);
  const auto refused = [&](std::vector<double> mean, std::vector<double> deviation) {
    try {
      of({{"mean", mean}, {"deviation", deviation}});
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_THAT(refused({1, 2}, {1}), HasSubstr("set.mean has 2 numbers; give one, or one for each"));
  EXPECT_THAT(refused({0}, {1, 0, 1}), HasSubstr("set.deviation must be above 0"));
}

}  // namespace
}  // namespace parajoule::data
