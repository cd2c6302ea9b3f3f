#include "data/idx.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "data/catalog.h"
#include "data/made_pictures.h"

namespace parajoule::data {
namespace {

using made::Bytes;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "read";
}

class IdxFile : public testing::Test {
 protected:
  std::string refusal_of(const Bytes& bytes) {
    made::write(folder_ / "file", bytes);
    return refusal([&] { read_idx(folder_ / "file"); });
  }
  std::string refusal_of_pair(const Bytes& pictures, const Bytes& labels) {
    made::write(folder_ / "pictures", pictures);
    made::write(folder_ / "labels", labels);
    return refusal([&] { read_idx_pair(folder_ / "pictures", folder_ / "labels", {"a", "b"}); });
  }
  made::Folder folder_;
};

const Bytes six = {1, 2, 3, 4, 5, 6};

TEST_F(IdxFile, IsReadPlainOrGzipped) {
  const Bytes bytes = made::idx({2, 3}, six);
  made::write(folder_ / "plain", bytes);
  made::write(folder_ / "packed", made::gzipped(bytes));
  for (const char* name : {"plain", "packed"}) {
    const IdxArray array = read_idx(folder_ / name);
    EXPECT_THAT(array.shape, ElementsAre(2, 3));
    EXPECT_EQ(array.values, six);
  }
}

TEST_F(IdxFile, SaysWhatIsWrong) {
  EXPECT_THAT(refusal([&] { read_idx(folder_ / "none"); }), HasSubstr("none: no such file"));
  EXPECT_THAT(refusal_of({}), HasSubstr("file: cut short within its header"));
  EXPECT_THAT(refusal_of({0x89, 'P', 'N', 'G'}),
              HasSubstr("not an IDX file: begins with 89504e47"));
  EXPECT_THAT(refusal_of(made::idx({6}, six, 0x0d)), HasSubstr("elements of type 0x0d; only"));
  EXPECT_THAT(refusal_of(made::idx({}, six)), HasSubstr("has no dimension"));
  EXPECT_THAT(refusal_of(made::idx({0, 3}, {})), HasSubstr("an extent of 0"));
  EXPECT_THAT(refusal_of(made::idx({7}, six)), HasSubstr("cut short: 6 of 7 values"));
  EXPECT_THAT(refusal_of(made::idx({5}, six)), HasSubstr("goes on after its 5 values"));
  // a claim of 2^62 bytes takes no memory, one of 2^96 no overflow
  EXPECT_THAT(refusal_of(made::idx({1u << 31, 1u << 31}, six)),
              HasSubstr("cut short: 6 of 4611686018427387904"));
  EXPECT_THAT(refusal_of(made::idx({~0u, ~0u, ~0u}, six)), HasSubstr("more bytes than 64 bits"));
}

TEST_F(IdxFile, WhatIsNoPlainFileKeepsNobodyWaiting) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("circle", folder_ / "circle");
  EXPECT_THAT(refusal([&] { read_idx(folder_ / "pipe"); }), HasSubstr("pipe: not a plain file"));
  EXPECT_THAT(refusal([&] { read_idx(folder_.path()); }), HasSubstr("not a plain file"));
  EXPECT_EQ(idx_file(folder_.path(), "circle"), folder_ / "circle");
  EXPECT_THROW(read_idx(folder_ / "circle"), base::Error);
  EXPECT_THROW(read_idx(folder_ / std::string(5000, 'n')), base::Error);
}

TEST_F(IdxFile, ADamagedGzipIsRefused) {
  const Bytes packed = made::gzipped(made::idx({1000}, Bytes(1000, 7)));
  for (std::size_t count = 1; count < packed.size(); ++count)
    EXPECT_NE(refusal_of({packed.begin(), packed.begin() + std::ptrdiff_t(count)}), "read")
        << count;
  Bytes flipped = packed;
  flipped[flipped.size() - 5] ^= 1;  // of its checksum
  EXPECT_THAT(refusal_of(flipped), HasSubstr("cannot be unzipped"));
}

TEST_F(IdxFile, PicturesAndLabelsMustBelongTogether) {
  const Bytes two = made::idx({2}, Bytes{0, 1});
  EXPECT_EQ(refusal_of_pair(made::idx({2, 1, 3}, six), two), "read");
  EXPECT_EQ(refusal_of_pair(made::idx({2, 3, 1, 1}, six), two), "read");
  EXPECT_THAT(refusal_of_pair(made::idx({6}, six), two), HasSubstr("pictures: has 1 dimensions"));
  EXPECT_THAT(refusal_of_pair(made::idx({2, 1, 3}, six), made::idx({2, 1}, Bytes{0, 1})),
              HasSubstr("labels: has 2 dimensions"));
  EXPECT_THAT(refusal_of_pair(made::idx({3, 1, 2}, six), two),
              HasSubstr("labels: 2 labels for the 3 pictures"));
  EXPECT_THAT(refusal_of_pair(made::idx({2, 1, 3}, six), made::idx({2}, Bytes{0, 2})),
              HasSubstr("labels: label 2; there are 2 classes"));
}

base::Settings settings(const Kind& kind, const std::map<std::string, base::Value>& given) {
  return {kind.name, kind.options, given};
}

TEST_F(IdxFile, AnyPairIsADataSet) {
  made::write(folder_ / "train-images-idx3-ubyte.gz", made::gzipped(made::idx({2, 1, 3}, six)));
  made::write(folder_ / "train-labels-idx1-ubyte", made::idx({2}, Bytes{4, 0}));
  made::write(folder_ / "test.idx", made::idx({1, 1, 3}, Bytes{9, 8, 7}));
  made::write(folder_ / "test-labels.idx", made::idx({1}, Bytes{3}));
  const Kind& kind = data::kind("idx");
  const base::Settings given = settings(kind, {{"folder", folder_.path().string()},
                                               {"validation_pictures", "test.idx"},
                                               {"validation_labels", "test-labels.idx"},
                                               {"mean", std::vector<double>{0}},
                                               {"deviation", std::vector<double>{1}}});
  const auto training = kind.open(given, Split::training);
  EXPECT_EQ(training->size(), 2);
  EXPECT_EQ(training->shape(), (Shape{1, 1, 3}));
  EXPECT_THAT(training->class_names(), ElementsAre("0", "1", "2", "3", "4"));
  const auto validation = kind.open(given, Split::validation);
  std::vector<float> out(3);
  EXPECT_EQ(validation->read(0, View::evaluation(), out).label, 3);
  EXPECT_FLOAT_EQ(out[0], 9 / 255.0f);
}

TEST(FashionMnist, IsTheDataSetItsPaperDescribes) {
  const Kind& kind = data::kind("fashion_mnist");
  for (const auto& [split, samples] :
       {std::pair{Split::training, 60000}, std::pair{Split::validation, 10000}}) {
    const auto set = kind.open(settings(kind, {}), split);
    EXPECT_EQ(set->size(), samples);
    EXPECT_EQ(set->shape(), (Shape{1, 28, 28}));
    std::vector<int> counts(10);
    for (std::int64_t i = 0; i < set->size(); ++i) ++counts[std::size_t(set->label(i))];
    EXPECT_THAT(counts, testing::Each(samples / 10));
  }
}

TEST(FashionMnist, IsNormalisedByItsOwnMeanAndDeviation) {
  const Kind& kind = data::kind("fashion_mnist");
  const auto set = kind.open(settings(kind, {}), Split::training);
  std::vector<float> out(set->shape().count());
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < set->size(); i += 10) {
    set->read(i, View::evaluation(), out);
    for (const float value : out) {
      sum += value;
      squares += double(value) * value;
    }
  }
  const double count = double(out.size()) * double(set->size()) / 10;
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(std::sqrt(squares / count), 1, 0.01);
}

TEST(FashionMnist, SaysHowToGetWhatIsMissing) {
  const Kind& kind = data::kind("fashion_mnist");
  EXPECT_THAT(
      refusal([&] {
        kind.open(settings(kind, {{"folder", "/nowhere"}}), Split::training);
      }),
      testing::AllOf(HasSubstr("/nowhere/train-images-idx3-ubyte"),
                     HasSubstr("dataset-fashion-mnist"), HasSubstr("fashion_mnist.folder")));
}

TEST_F(IdxFile, WhatIsLearntMustBeLikeWhatIsJudged) {
  const Stored::Looks plain{.normalisation = {.channels = {{}}}};
  const auto set = [&](const Bytes& pictures, std::size_t count) {
    made::write(folder_ / "pictures", pictures);
    made::write(folder_ / "labels", made::idx({std::uint32_t(count)}, Bytes(count, 0)));
    return Stored(read_idx_pair(folder_ / "pictures", folder_ / "labels", {"a"}), plain);
  };
  const Stored wide = set(made::idx({2, 1, 3}, six), 2);
  const Stored high = set(made::idx({2, 3, 1}, six), 2);
  EXPECT_EQ(refusal([&] { need_alike(wide, wide); }), "read");
  EXPECT_THAT(refusal([&] { need_alike(wide, high); }),
              HasSubstr("have 1x1x3 values, those of validation 1x3x1"));
  const Stored none({.shape = wide.shape(), .class_names = {"a"}}, plain);
  EXPECT_THAT(refusal([&] { need_alike(none, wide); }), HasSubstr("training set holds no sample"));
  EXPECT_THAT(refusal([&] { need_alike(wide, none); }), HasSubstr("validation set holds no"));
}

}  // namespace
}  // namespace parajoule::data
