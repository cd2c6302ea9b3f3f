#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/catalog.h"
#include "data/made_pictures.h"

namespace parajoule::data {
namespace {

using testing::HasSubstr;

/// `labels`, then 1024 bytes of each of three colours.
made::Bytes record(std::vector<std::uint8_t> labels, std::vector<std::uint8_t> colours) {
  for (const std::uint8_t colour : colours) labels.insert(labels.end(), 1024, colour);
  return labels;
}

std::string refusal(const Kind& kind, const std::string& folder) {
  try {
    kind.open(base::Settings(kind.name, kind.options, {{"folder", folder}}), Split::validation);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    return error.what();
  }
  return "opened";
}

TEST(Cifar, TenIsReadFromItsFiveFilesInOrder) {
  const made::Folder folder;
  for (int i = 1; i <= 5; ++i)
    made::write(folder / ("cifar-10-batches-bin/data_batch_" + std::to_string(i) + ".bin"),
                record({std::uint8_t(i)}, {std::uint8_t(i), 100, 200}));
  made::write(folder / "cifar-10-batches-bin/batches.meta.txt",
              "airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n");
  const Kind& kind = data::kind("cifar10");
  const auto set = kind.open(base::Settings(kind.name, kind.options,
                                            {{"folder", folder.path().string()},
                                             {"mean", std::vector<double>{0}},
                                             {"deviation", std::vector<double>{1}}}),
                             Split::training);
  ASSERT_EQ(set->size(), 5);
  EXPECT_EQ(set->shape(), (Shape{3, 32, 32}));
  EXPECT_EQ(set->class_names()[9], "truck");
  std::vector<float> out(3072);
  EXPECT_EQ(set->read(2, View::evaluation(), out).label, 3);
  EXPECT_FLOAT_EQ(out[0], 3 / 255.0f);
  EXPECT_FLOAT_EQ(out[1024], 100 / 255.0f);
  EXPECT_FLOAT_EQ(out[3071], 200 / 255.0f);
}

TEST(Cifar, TheFineLabelOfAHundredCounts) {
  const made::Folder folder;
  std::string names;
  for (int i = 0; i < 100; ++i) names += "class" + std::to_string(i) + "\n";
  made::write(folder / "fine_label_names.txt", names);
  made::write(folder / "test.bin", record({7, 93}, {1, 2, 3}));
  const Kind& kind = data::kind("cifar100");
  const auto set =
      kind.open(base::Settings(kind.name, kind.options, {{"folder", folder.path().string()}}),
                Split::validation);
  EXPECT_EQ(set->size(), 1);
  EXPECT_EQ(set->label(0), 93);
  EXPECT_EQ(set->classes(), 100);
}

TEST(Cifar, SaysWhatIsWrong) {
  const made::Folder folder;
  const Kind& ten = data::kind("cifar10");
  EXPECT_THAT(refusal(ten, folder.path().string()),
              testing::AllOf(HasSubstr("cifar10: no batches.meta.txt"), HasSubstr("kriz/cifar"),
                             HasSubstr("cifar10.folder")));
  made::write(folder / "batches.meta.txt", "a\nb\n");
  made::write(folder / "test_batch.bin", record({1}, {1, 2}));
  EXPECT_THAT(refusal(ten, folder.path().string()),
              HasSubstr("test_batch.bin: cut short within record 0"));
  made::write(folder / "test_batch.bin", "");
  EXPECT_THAT(refusal(ten, folder.path().string()), HasSubstr("test_batch.bin: holds no picture"));
  made::write(folder / "test_batch.bin", record({2}, {1, 2, 3}));
  EXPECT_THAT(refusal(ten, folder.path().string()), HasSubstr("label 2 in record 0; there are 2"));
}

}  // namespace
}  // namespace parajoule::data
