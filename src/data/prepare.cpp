#include "data/prepare.h"

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
// needs size_t and FILE
#include <jpeglib.h>

#include "base/error.h"

namespace parajoule::data {

namespace {

/// libjpeg leaves its functions by a jump; each call of it lies within `guarded`.
class Encoder {
 public:
  Encoder() {
    encoder_.err = jpeg_std_error(&trouble_);
    trouble_.error_exit = [](j_common_ptr encoder) {
      std::longjmp(static_cast<Trouble&>(*encoder->err).back, 1);
    };
    guarded([&] { jpeg_create_compress(&encoder_); });
  }
  ~Encoder() {
    jpeg_destroy_compress(&encoder_);
    std::free(bytes_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  std::span<const std::uint8_t> encode(const Picture& picture, int quality) {
    guarded([&] {
      jpeg_mem_dest(&encoder_, &bytes_, &count_);
      encoder_.image_width = unsigned(picture.width);
      encoder_.image_height = unsigned(picture.height);
      encoder_.input_components = picture.channels;
      encoder_.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_set_defaults(&encoder_);
      jpeg_set_quality(&encoder_, quality, TRUE);
      jpeg_start_compress(&encoder_, TRUE);
      while (encoder_.next_scanline < encoder_.image_height) {
        auto* row = const_cast<JSAMPLE*>(picture.pixels.data()) +
                    std::size_t(encoder_.next_scanline) * picture.width * picture.channels;
        jpeg_write_scanlines(&encoder_, &row, 1);
      }
      jpeg_finish_compress(&encoder_);
    });
    return {bytes_, count_};
  }

 private:
  struct Trouble : jpeg_error_mgr {
    std::jmp_buf back;
  };

  template <class Call>
  void guarded(Call call) {
    if (setjmp(trouble_.back) != 0) {
      char message[JMSG_LENGTH_MAX];
      trouble_.format_message(reinterpret_cast<j_common_ptr>(&encoder_), message);
      throw base::Error(base::Fault::input, fmt::format("cannot become a JPEG: {}", message));
    }
    call();
  }

  Trouble trouble_;
  jpeg_compress_struct encoder_ = {};
  unsigned char* bytes_ = nullptr;
  unsigned long count_ = 0;
};

std::vector<std::filesystem::path> make_folders(const Dataset& dataset,
                                                const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder))
    throw base::Error(
        base::Fault::usage,
        fmt::format("{}: already holds something; name a new folder", folder.string()));
  std::vector<std::filesystem::path> folders;
  const std::size_t digits = std::to_string(dataset.classes() - 1).size();
  for (std::int64_t c = 0; c < dataset.classes(); ++c) {
    std::string name = dataset.class_names()[std::size_t(c)];
    std::ranges::replace(name, '/', '_');
    folders.push_back(folder / fmt::format("{:0{}}_{}", c, digits, name));
    std::error_code failed;
    std::filesystem::create_directories(folders.back(), failed);
    if (failed)
      throw base::Error(
          base::Fault::environment,
          fmt::format("{}: cannot be made: {}", folders.back().string(), failed.message()));
  }
  return folders;
}

void write(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size())).flush();
  if (!file)
    throw base::Error(base::Fault::environment, fmt::format("{}: cannot be written: {}",
                                                            path.string(), std::strerror(errno)));
}

}  // namespace

std::vector<std::uint8_t> to_jpeg(const Picture& picture, int quality) {
  base::ensure(picture.channels == 1 || picture.channels == 3, "a JPEG is grey or RGB");
  Encoder encoder;
  const std::span<const std::uint8_t> bytes = encoder.encode(picture, quality);
  return {bytes.begin(), bytes.end()};
}

std::int64_t write_image_folder(const Dataset& dataset, const std::filesystem::path& folder,
                                const Written& wanted) {
  const std::vector<std::filesystem::path> folders = make_folders(dataset, folder);
  const std::int64_t count = std::min(dataset.size(), wanted.samples.value_or(dataset.size()));
  constexpr std::int64_t samples_a_call = 100;
  for (std::int64_t i = 0; i < count; ++i) {
    write(folders[std::size_t(dataset.label(i))] / fmt::format("{:07}.jpg", i),
          to_jpeg(dataset.picture(i), wanted.quality));
    if ((i + 1) % samples_a_call == 0) wanted.seen(i + 1);
  }
  return count;
}

}  // namespace parajoule::data
