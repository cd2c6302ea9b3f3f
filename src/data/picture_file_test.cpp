#include "data/picture_file.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"
#include "data/made_pictures.h"

namespace parajoule::data {
namespace {

using made::Bytes;
using made::Colours;
using testing::HasSubstr;

struct Decoded {
  Part part;
  Bytes pixels;
};

Decoded decode(const Bytes& bytes, const Box& box, int shrink = 1) {
  PixelMemory memory;
  Decoded decoded{.part = open_picture(bytes)->decode(box, shrink, memory), .pixels = {}};
  const Part& part = decoded.part;
  decoded.pixels.assign(part.pixels.begin(),
                        part.pixels.begin() + part.box.width * part.box.height * 3);
  return decoded;
}

Decoded decode(const Bytes& bytes) {
  const auto picture = open_picture(bytes);
  return decode(bytes, {.width = picture->width(), .height = picture->height()});
}

std::string refusal(const Bytes& bytes) {
  try {
    decode(bytes);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    return error.what();
  }
  return "decoded";
}

/// The largest difference of any channel.
int difference(const Bytes& a, const Bytes& b) {
  EXPECT_EQ(a.size(), b.size());
  int most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(int(a[i]) - int(b[i])));
  return most;
}

Bytes cut(Bytes bytes, std::size_t count) {
  bytes.resize(count);
  return bytes;
}

Bytes text(std::string_view letters) { return {letters.begin(), letters.end()}; }

TEST(PictureFile, AJpegOfAnyColoursShowsTheSamePicture) {
  const Picture picture = made::photograph(61, 47);
  for (const Colours colours :
       {Colours::rgb, Colours::ycc, Colours::cmyk, Colours::adobe_cmyk, Colours::adobe_ycck}) {
    const Decoded decoded = decode(made::jpeg(picture, {.colours = colours, .quality = 100}));
    EXPECT_EQ(decoded.part.box, (Box{0, 0, 61, 47}));
    EXPECT_LE(difference(decoded.pixels, picture.pixels), 8) << int(colours);
  }
}

TEST(PictureFile, BlackInkDarkensAllColours) {
  for (const Colours colours : {Colours::cmyk, Colours::adobe_cmyk, Colours::adobe_ycck}) {
    const Decoded decoded = decode(made::jpeg(made::plain(16, 16, {200, 100, 255}),
                                              {.colours = colours, .quality = 100}, 128));
    EXPECT_NEAR(decoded.pixels[0], 200 * 127 / 255, 3) << int(colours);
    EXPECT_NEAR(decoded.pixels[1], 100 * 127 / 255, 3) << int(colours);
    EXPECT_NEAR(decoded.pixels[2], 127, 3) << int(colours);
  }
}

TEST(PictureFile, GreyIsAllThreeColours) {
  const Decoded decoded = decode(made::jpeg(made::plain(20, 10, {77}), {.colours = Colours::grey}));
  EXPECT_THAT(decoded.pixels, testing::Each(77));
  EXPECT_EQ(decoded.pixels.size(), 600u);
}

TEST(PictureFile, TheOrientationOfAnExifHeaderIsIgnored) {
  const Picture picture = made::photograph(40, 20);
  const Bytes turned = made::jpeg(picture, {.orientation = 6});
  EXPECT_THAT(std::string(turned.begin(), turned.end()), HasSubstr("Exif"));
  EXPECT_EQ(decode(turned).part.box, (Box{0, 0, 40, 20}));
  EXPECT_EQ(decode(turned).pixels, decode(made::jpeg(picture)).pixels);
}

TEST(PictureFile, PngOfAnyKindShowsTheSamePicture) {
  const Picture picture = made::photograph(33, 21);
  for (const made::PngKind kind : {made::PngKind::rgb, made::PngKind::rgb_alpha,
                                   made::PngKind::rgb_16, made::PngKind::rgb_interlaced})
    EXPECT_EQ(decode(made::png(picture, kind)).pixels, picture.pixels) << int(kind);
  Picture grey{.height = 21, .width = 33, .channels = 1};
  for (std::size_t i = 0; i < picture.pixels.size(); i += 3)
    grey.pixels.push_back(picture.pixels[i]);
  for (const made::PngKind kind : {made::PngKind::grey, made::PngKind::grey_alpha,
                                   made::PngKind::grey_16, made::PngKind::palette}) {
    const Decoded decoded = decode(made::png(grey, kind));
    for (std::size_t i = 0; i < grey.pixels.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c)
        ASSERT_EQ(decoded.pixels[3 * i + c], grey.pixels[i]) << int(kind);
  }
}

struct Sampling {
  int across;
  int down;
  bool progressive;
};

class Sampled : public testing::TestWithParam<Sampling> {};

// What is decoded in part, with smoothed colours, is the same as of the whole.
TEST_P(Sampled, APartIsThatOfTheWhole) {
  const auto [across, down, progressive] = GetParam();
  const Bytes bytes =
      made::jpeg(made::photograph(203, 149),
                 {.across = across, .down = down, .progressive = progressive, .quality = 90});
  for (const int shrink : {1, 2, 4, 8}) {
    const Decoded whole = decode(bytes, {.width = 203, .height = 149}, shrink);
    ASSERT_EQ(whole.part.box.width, (203 + shrink - 1) / shrink);
    base::Stream stream{std::uint64_t(shrink)};
    for (int i = 0; i < 60; ++i) {
      Box box{.left = int(stream.below(203)), .top = int(stream.below(149))};
      box.width = 1 + int(stream.below(std::uint64_t(203 - box.left)));
      box.height = 1 + int(stream.below(std::uint64_t(149 - box.top)));
      const Decoded part = decode(bytes, box, shrink);
      const Box& got = part.part.box;
      for (int y = box.top / shrink; y < (box.bottom() + shrink - 1) / shrink; ++y)
        for (int x = box.left / shrink; x < (box.right() + shrink - 1) / shrink; ++x)
          for (int c = 0; c < 3; ++c)
            ASSERT_EQ(part.pixels[std::size_t(((y - got.top) * got.width + x - got.left) * 3 + c)],
                      whole.pixels[std::size_t((y * whole.part.box.width + x) * 3 + c)])
                << "at " << x << ", " << y << " shrunk " << shrink << " in " << box.left << ", "
                << box.top << ", " << box.width << ", " << box.height;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Sampled,
                         testing::Values(Sampling{1, 1, false}, Sampling{2, 1, false},
                                         Sampling{2, 2, false}, Sampling{1, 2, false},
                                         Sampling{4, 1, false}, Sampling{4, 2, false},
                                         Sampling{1, 4, false}, Sampling{2, 4, false},
                                         Sampling{3, 1, false}, Sampling{2, 2, true},
                                         Sampling{1, 1, true}));

TEST(PictureFile, APartOfAnInterlacedPngIsThatOfTheWhole) {
  const Picture picture = made::photograph(50, 40);
  const Decoded part = decode(made::png(picture, made::PngKind::rgb_interlaced), {10, 20, 30, 10});
  EXPECT_EQ(part.pixels, picture.pixels);
  const Decoded plain = decode(made::png(picture), {10, 20, 30, 10});
  EXPECT_EQ(plain.part.box, (Box{0, 20, 50, 10}));
  EXPECT_EQ(plain.pixels, Bytes(picture.pixels.begin() + 3000, picture.pixels.begin() + 4500));
}

TEST(PictureFile, TheSmallestAndTheLongestAreDecoded) {
  for (const Box& extent : {Box{0, 0, 1, 1}, Box{0, 0, 20000, 1}, Box{0, 0, 1, 20000}}) {
    const Picture picture = made::plain(extent.width, extent.height, {10, 200, 90});
    EXPECT_EQ(decode(made::png(picture)).pixels, picture.pixels);
    for (const int across : {1, 2}) {
      const Decoded decoded = decode(made::jpeg(picture, {.across = across, .down = across}));
      EXPECT_EQ(decoded.part.box, extent);
      EXPECT_LE(difference(decoded.pixels, picture.pixels), 2);
    }
  }
}

TEST(PictureFile, SaysWhatTheBytesAreInstead) {
  EXPECT_EQ(refusal({}), "an empty file");
  EXPECT_THAT(refusal(text("GIF89a and so on")), HasSubstr("a GIF; only JPEG and PNG are read"));
  EXPECT_THAT(refusal(text("BM and so on")), HasSubstr("a BMP;"));
  EXPECT_THAT(refusal(text("RIFF1234WEBPVP8 ")), HasSubstr("a WebP;"));
  EXPECT_THAT(refusal(text(std::string("II*\0and so on", 13))), HasSubstr("a TIFF;"));
  EXPECT_THAT(refusal(text("1234ftypavif")), HasSubstr("an AVIF, HEIF or video;"));
  EXPECT_THAT(refusal(text("<html>")), HasSubstr("no picture of a known format;"));
}

TEST(PictureFile, ACutFileIsRefused) {
  const Picture picture = made::photograph(64, 64);
  for (const Bytes& whole : {made::jpeg(picture), made::jpeg(picture, {.progressive = true}),
                             made::png(picture), made::png(picture, made::PngKind::palette)})
    for (const double part : {0.01, 0.1, 0.3, 0.5, 0.9, 0.97}) {
      const std::string why = refusal(cut(whole, std::size_t(part * double(whole.size()))));
      EXPECT_NE(why, "decoded") << part;
      EXPECT_EQ(why.find('\n'), why.npos);
    }
  const Bytes whole = made::jpeg(picture);
  EXPECT_EQ(refusal(cut(whole, whole.size() / 2)), "cut short");
}

TEST(PictureFile, MendedDamageIsCounted) {
  const Picture picture = made::photograph(128, 128);
  Bytes bytes = made::jpeg(picture);
  EXPECT_EQ(decode(bytes).part.warnings, 0);
  bytes[bytes.size() / 2] = 0xff;  // a marker where none belongs
  bytes[bytes.size() / 2 + 1] = 0xd0;
  EXPECT_GT(decode(bytes).part.warnings, 0);
}

// A header of a few bytes must not make us take gigabytes.
TEST(PictureFile, AHugeClaimIsRefused) {
  Bytes jpeg = made::jpeg(made::plain(16, 16, {1, 2, 3}));
  for (std::size_t i = 0; i + 8 < jpeg.size(); ++i)
    if (jpeg[i] == 0xff && jpeg[i + 1] == 0xc0)
      for (const std::size_t at : {i + 5, i + 6, i + 7, i + 8}) jpeg[at] = 0xf0;
  EXPECT_THAT(refusal(jpeg), HasSubstr("61680 x 61680 pixels; more than 100 million are refused"));
}

TEST(PictureFile, TooManyScansAreRefused) {
  Bytes bytes = made::jpeg(made::plain(16, 16, {1, 2, 3}), {.progressive = true});
  // the last scan again and again
  std::size_t scan = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i)
    if (bytes[i] == 0xff && bytes[i + 1] == 0xda) scan = i;
  const Bytes again(bytes.begin() + std::ptrdiff_t(scan), bytes.end() - 2);
  bytes.resize(bytes.size() - 2);
  for (int i = 0; i < 300; ++i) bytes.insert(bytes.end(), again.begin(), again.end());
  bytes.insert(bytes.end(), {0xff, 0xd9});
  EXPECT_EQ(refusal(bytes), "more than 200 scans");
}

}  // namespace
}  // namespace parajoule::data
