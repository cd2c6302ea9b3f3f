// Reads pictures as training does, for comparison with other programs on the same files and crops.
//
//   show_pictures FOLDER SIZE SHORTER_SIDE      FOLDER holds CLASS/FILE
//
// reads one command a line and answers each on one line, or one line a sample:
//
//   samples EPOCH      file, left, top, width, height of the crop, 1 if mirrored, scale of decoding
//   write EPOCH FILE   all samples (N,3,SIZE,SIZE) float32; EPOCH may be `evaluation`
//   time EPOCH         seconds of the processor and of the clock for reading all samples once

#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "data/image_folder.h"

namespace {

using namespace parajoule;

constexpr std::uint64_t seed = 1;

data::View view_of(const std::string& epoch) {
  if (epoch == "evaluation") return data::View::evaluation();
  return data::View::training(seed, std::stoll(epoch));
}

double processor_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

class Show {
 public:
  Show(const std::string& folder, int size, int shorter_side)
      : folder_(folder),
        set_(folder, data::classes_in(folder),
             {.size = size,
              .shorter_side = shorter_side,
              .normalisation = {.channels = {of(0.485, 0.229), of(0.456, 0.224),
                                             of(0.406, 0.225)}}}),
        out_(set_.shape().count()) {}

  void samples(const data::View& view) {
    const data::ImageIndex index(folder_);
    std::vector<std::uint8_t> bytes;
    for (std::int64_t i = 0; i < set_.size(); ++i) {
      data::read_file(index.file(i), bytes);
      const auto picture = data::open_picture(bytes);
      const data::Window window = set_.window(i, view, picture->width(), picture->height());
      const int shrink = picture->shrinks() ? data::shrink_for(window) : 1;
      std::cout << index.file(i).string() << '\t' << window.columns.first << '\t'
                << window.rows.first << '\t' << window.columns.last - window.columns.first << '\t'
                << window.rows.last - window.rows.first << '\t' << window.mirrored << '\t' << shrink
                << '\n';
    }
    std::cout << std::endl;
  }

  void write(const data::View& view, const std::string& path) {
    std::ofstream file(path, std::ios::binary);
    for (std::int64_t i = 0; i < set_.size(); ++i) {
      set_.read(i, view, out_);
      file.write(reinterpret_cast<const char*>(out_.data()),
                 std::streamsize(out_.size() * sizeof(float)));
    }
    file.flush();
    std::cout << (file ? "written" : "failed") << std::endl;
  }

  void time(const data::View& view) {
    const double before = processor_seconds();
    const auto began = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < set_.size(); ++i) set_.read(i, view, out_);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    std::cout << processor_seconds() - before << ' ' << took.count() << std::endl;
  }

 private:
  static data::Normalisation::Channel of(double mean, double deviation) {
    return {.scale = float(1 / (255 * deviation)), .shift = float(-mean / deviation)};
  }

  std::string folder_;
  data::ImageFolder set_;
  std::vector<float> out_;
};

void answer(Show& show) {
  std::string command, epoch, path;
  while (std::cin >> command >> epoch) {
    if (command == "samples") show.samples(view_of(epoch));
    if (command == "write" && std::cin >> path) show.write(view_of(epoch), path);
    if (command == "time") show.time(view_of(epoch));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::cerr << "usage: show_pictures FOLDER SIZE SHORTER_SIDE\n";
    return 2;
  }
  try {
    Show show(words[1], std::stoi(words[2]), std::stoi(words[3]));
    answer(show);
  } catch (const std::exception& error) {
    std::cerr << "show_pictures: " << error.what() << '\n';
    return 2;
  }
}
