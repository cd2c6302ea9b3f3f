#include "data/image_folder.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "data/catalog.h"
#include "data/check.h"
#include "data/made_pictures.h"
#include "data/prepare.h"

namespace parajoule::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::function<void()>& call, base::Fault fault = base::Fault::input) {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, fault) << error.what();
    return error.what();
  }
  return "read";
}

base::Settings settings(const std::map<std::string, base::Value>& given) {
  return {"images", kind("images").options, given};
}

void make_old(const std::filesystem::path& path) {
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
}

/// Two classes: one of two JPEGs, one of a PNG that calls itself JPEG.
class Images : public testing::Test {
 protected:
  Images() {
    made::write(folder_ / "train/cat/1.jpg", made::jpeg(made::photograph(300, 260, 1)));
    made::write(folder_ / "train/cat/2.JPEG", made::jpeg(made::photograph(80, 400, 2)));
    made::write(folder_ / "train/dog/a.JPEG", made::png(made::photograph(100, 90, 3)));
    made::write(folder_ / "train/dog/.hidden", "no picture");
    made::write(folder_ / "val/dog/b.jpg", made::jpeg(made::photograph(300, 200, 4)));
    for (const char* name : {"train/cat", "train/dog", "val/dog"}) make_old(folder_ / name);
  }
  std::unique_ptr<Dataset> open(Split split, std::map<std::string, base::Value> given = {}) {
    given["folder"] = folder_.path().string();
    return kind("images").open(settings(given), split);
  }
  made::Folder folder_;
};

TEST_F(Images, ClassesAreNumberedByTheTrainingFolders) {
  const auto training = open(Split::training);
  EXPECT_EQ(training->size(), 3);
  EXPECT_THAT(training->class_names(), ElementsAre("cat", "dog"));
  EXPECT_EQ(training->label(1), 0);
  EXPECT_EQ(training->label(2), 1);
  const auto validation = open(Split::validation);
  EXPECT_EQ(validation->size(), 1);
  EXPECT_EQ(validation->label(0), 1);
  EXPECT_EQ(validation->classes(), 2);
}

TEST_F(Images, EachSampleHasTheSizeAskedFor) {
  const auto set = open(Split::training, {{"size", 32}, {"resize", 40}});
  EXPECT_EQ(set->shape(), (Shape{3, 32, 32}));
  std::vector<float> out(set->shape().count());
  for (std::int64_t i = 0; i < set->size(); ++i)
    for (int epoch = 0; epoch < 20; ++epoch) {
      std::ranges::fill(out, -100.0f);
      EXPECT_EQ(set->read(i, View::training(1, epoch), out).label, set->label(i));
      EXPECT_GT(*std::ranges::min_element(out), -2.2f);
      EXPECT_LT(*std::ranges::max_element(out), 2.7f);
    }
}

TEST_F(Images, ASampleDependsOnSeedEpochAndIndexAlone) {
  const auto set = open(Split::training, {{"size", 24}, {"resize", 24}});
  const auto read = [&](const View& view) {
    std::vector<float> out(set->shape().count());
    set->read(0, view, out);
    return out;
  };
  EXPECT_EQ(read(View::training(1, 1)), read(View::training(1, 1)));
  EXPECT_NE(read(View::training(1, 1)), read(View::training(1, 2)));
  EXPECT_NE(read(View::training(1, 1)), read(View::training(2, 1)));
  EXPECT_EQ(read(View::evaluation()), read(View::evaluation()));
}

TEST_F(Images, MirroringIsAllThatFlipChanges) {
  const auto flipping = open(Split::training, {{"size", 24}, {"resize", 24}});
  const auto still = open(Split::training, {{"size", 24}, {"resize", 24}, {"flip", false}});
  int mirrored = 0;
  for (int epoch = 0; epoch < 20; ++epoch) {
    std::vector<float> a(flipping->shape().count()), b(a.size());
    flipping->read(0, View::training(1, epoch), a);
    still->read(0, View::training(1, epoch), b);
    if (a == b) continue;
    ++mirrored;
    for (auto row = b.begin(); row != b.end(); row += 24) std::reverse(row, row + 24);
    EXPECT_EQ(a, b);
  }
  EXPECT_GT(mirrored, 2);
  EXPECT_LT(mirrored, 18);
}

TEST_F(Images, TheListIsKeptAndBelievedOnlyWhileItIsTrue) {
  const auto train = folder_ / "train";
  EXPECT_FALSE(ImageIndex(train).kept());
  const ImageIndex kept(train);
  EXPECT_TRUE(kept.kept());
  EXPECT_EQ(kept.size(), 3);
  EXPECT_EQ(kept.file(2), train / "dog/a.JPEG");

  made::write(train / "cat/3.jpg", "new");
  EXPECT_FALSE(ImageIndex(train).kept());
  EXPECT_EQ(ImageIndex(train).size(), 4);
  make_old(train / "cat");
  EXPECT_FALSE(ImageIndex(train).kept());
  EXPECT_TRUE(ImageIndex(train).kept());

  std::filesystem::create_directory(train / "emu");
  made::write(train / "emu/1.jpg", "new");
  make_old(train / "emu");
  EXPECT_EQ(ImageIndex(train).class_names().size(), 3u);
  EXPECT_TRUE(ImageIndex(train).kept());
}

TEST_F(Images, AFolderThatMayChangeUnseenHasNoListKept) {
  const auto train = folder_ / "train";
  std::filesystem::last_write_time(train / "cat", std::filesystem::file_time_type::clock::now());
  EXPECT_FALSE(ImageIndex(train).kept());
  EXPECT_FALSE(ImageIndex(train).kept());
}

TEST_F(Images, ADamagedListIsMadeAnew) {
  const auto list = folder_ / "train/.parajoule-images";
  ImageIndex(folder_ / "train");
  std::vector<std::uint8_t> bytes;
  read_file(list, bytes);
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::vector<std::uint8_t> damaged = bytes;
    damaged[i] ^= 0x20;
    made::write(list, damaged);
    const ImageIndex index(folder_ / "train");
    EXPECT_FALSE(index.kept()) << i;
    EXPECT_EQ(index.size(), 3);
    made::write(list, std::span(bytes).first(i));
    EXPECT_EQ(ImageIndex(folder_ / "train").size(), 3);
  }
}

TEST_F(Images, SaysWhatIsWrongWithTheFolders) {
  const auto open_training = [&] { open(Split::training); };
  std::filesystem::create_directory(folder_ / "train/emu");
  EXPECT_THAT(refusal(open_training), HasSubstr("train/emu: a class without a picture"));
  std::filesystem::create_directory(folder_ / "train/emu/more");
  EXPECT_THAT(refusal(open_training), HasSubstr("train/emu/more: a folder within a class"));
  std::filesystem::remove_all(folder_ / "train/emu");
  made::write(folder_ / "val/fox/1.jpg", "x");
  EXPECT_THAT(refusal([&] { open(Split::validation); }),
              HasSubstr("val/fox: no such class among the 2 of training"));
  std::filesystem::remove_all(folder_ / "train");
  EXPECT_THAT(refusal(open_training), HasSubstr("train: no such folder; it should hold"));
  std::filesystem::create_directory(folder_ / "train");
  EXPECT_THAT(refusal(open_training), HasSubstr("train: holds no folders"));
}

TEST_F(Images, ALinkThatLeadsNowhereIsNoFolder) {
  std::filesystem::create_symlink("circle.jpg", folder_ / "train/cat/circle.jpg");
  const auto set = open(Split::training);
  EXPECT_THAT(refusal([&] { set->picture(2); }), HasSubstr("circle.jpg: cannot be read"));
  std::filesystem::create_symlink("/not/mounted", folder_ / "train/emu");
  EXPECT_THAT(refusal([&] { open(Split::training); }),
              HasSubstr("train/emu: a link that leads nowhere"));
}

TEST_F(Images, SaysWhatIsWrongWithTheOptions) {
  const auto why = [&](std::map<std::string, base::Value> given) {
    return refusal([&] { open(Split::training, given); }, base::Fault::usage);
  };
  EXPECT_THAT(why({{"scale", std::vector<double>{0.5}}}), HasSubstr("images.scale = [0.5] is not"));
  EXPECT_THAT(why({{"scale", std::vector<double>{0.5, 1.5}}}),
              HasSubstr("images.scale ends at 1.5"));
  EXPECT_THAT(why({{"ratio", std::vector<double>{2, 1}}}),
              HasSubstr("images.ratio = [2, 1] is not"));
  EXPECT_THAT(why({{"resize", 100}}), HasSubstr("images.resize = 100 is below images.size = 224"));
  EXPECT_THAT(
      refusal([&] { kind("images").open(settings({}), Split::training); }, base::Fault::usage),
      HasSubstr("images.folder is not set"));
}

TEST_F(Images, ABadFileIsNamed) {
  made::write(folder_ / "train/cat/0.jpg", "");
  made::write(folder_ / "train/cat/9.jpg", "GIF89a");
  std::filesystem::create_symlink("/nowhere", folder_ / "train/dog/link.jpg");
  const auto set = open(Split::training);
  ASSERT_EQ(set->size(), 6);
  const auto why = [&](std::int64_t index) {
    std::vector<float> out(set->shape().count());
    return refusal([&] { set->read(index, View::training(1, 0), out); });
  };
  EXPECT_THAT(why(0), HasSubstr("train/cat/0.jpg: an empty file"));
  EXPECT_THAT(why(3), HasSubstr("train/cat/9.jpg: a GIF; only JPEG and PNG are read"));
  EXPECT_THAT(why(5), HasSubstr("train/dog/link.jpg: cannot be read: No such file"));
}

TEST_F(Images, ANamedPipeKeepsNobodyWaiting) {
  ASSERT_EQ(mkfifo((folder_ / "train/cat/pipe.jpg").c_str(), 0600), 0);
  const auto set = open(Split::training);
  EXPECT_THAT(refusal([&] { set->picture(2); }), HasSubstr("pipe.jpg: not a file"));
}

TEST_F(Images, AreReadByManyThreadsAtOnce) {
  const auto set = open(Split::training, {{"size", 16}, {"resize", 16}});
  std::vector<std::vector<float>> seen(4, std::vector<float>(set->shape().count()));
  {
    std::vector<std::jthread> threads;
    for (auto& out : seen)
      threads.emplace_back([&] {
        for (int i = 0; i < 30; ++i) set->read(i % 3, View::training(1, 7), out);
      });
  }
  EXPECT_THAT(seen, testing::Each(seen[0]));
}

TEST_F(Images, ACheckFindsEveryBadFile) {
  const auto cut = made::jpeg(made::photograph(64, 64));
  made::write(folder_ / "train/cat/0.jpg", std::span(cut).first(cut.size() - 200));
  made::write(folder_ / "train/dog/z.jpg", "no picture");
  auto damaged = cut;
  damaged[cut.size() / 2] = 0xff;
  damaged[cut.size() / 2 + 1] = 0xd0;
  made::write(folder_ / "train/dog/y.jpg", damaged);
  const auto set = open(Split::training);
  for (const int threads : {1, 3}) {
    const Checked checked = check(*set, threads);
    EXPECT_EQ(checked.samples, 6);
    ASSERT_EQ(checked.bad.size(), 2u);
    EXPECT_EQ(checked.bad[0].index, 0);
    EXPECT_THAT(checked.bad[0].what, HasSubstr("cat/0.jpg: cut short"));
    EXPECT_THAT(checked.bad[1].what, HasSubstr("dog/z.jpg: no picture of a known format"));
    EXPECT_THAT(checked.damaged, ElementsAre(4));
  }
}

TEST(Prepare, FashionMnistBecomesAnImageFolderOfTheSamePictures) {
  const Kind& fashion = kind("fashion_mnist");
  const auto set =
      fashion.open(base::Settings("fashion_mnist", fashion.options, {}), Split::validation);
  const made::Folder folder;
  EXPECT_EQ(write_image_folder(*set, folder / "train", {.quality = 100, .samples = 200}), 200);
  const auto images = kind("images").open(
      settings({{"folder", folder.path().string()}, {"size", 28}, {"resize", 28}}),
      Split::training);
  EXPECT_EQ(images->size(), 200);
  EXPECT_EQ(images->class_names()[9], "9_boot");
  std::vector<int> written(10), read(10);
  for (std::int64_t i = 0; i < 200; ++i) {
    ++written[std::size_t(set->label(i))];
    ++read[std::size_t(images->label(i))];
  }
  EXPECT_EQ(written, read);
  // the first picture of the data set is the first of its class
  const std::int64_t label = set->label(0);
  std::int64_t first = 0;
  while (images->label(first) != label) ++first;
  const Picture before = set->picture(0), after = images->picture(first);
  for (std::size_t i = 0; i < before.pixels.size(); ++i)
    ASSERT_NEAR(after.pixels[3 * i], before.pixels[i], 8);
  EXPECT_THAT(refusal([&] { write_image_folder(*set, folder / "train"); }, base::Fault::usage),
              HasSubstr("train: already holds something"));
}

}  // namespace
}  // namespace parajoule::data
