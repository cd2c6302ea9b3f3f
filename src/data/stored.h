#pragma once

// Small pictures of one size, held in memory: what IDX and CIFAR files hold.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "data/dataset.h"
#include "data/normalise.h"

namespace parajoule::data {

class Stored final : public Dataset {
 public:
  struct Content {
    Shape shape = {};                       ///< of one picture
    std::vector<std::uint8_t> pixels = {};  ///< (N,C,H,W)
    std::vector<std::int64_t> labels = {};  ///< (N), each below the number of names
    std::vector<std::string> class_names = {};
  };

  /// Beside the normalisation: a crop as large as the picture out of the picture with
  /// `random_crop` black pixels around it, and a mirror image half of the time.
  struct Looks {
    Normalisation normalisation = {};
    std::int64_t random_crop = 0;
    bool flip = false;
    /// Of the options `mean`, `deviation`, `random_crop` and `flip`.
    static Looks of(std::string_view data_set, const base::Settings& settings,
                    std::int64_t channels);
  };

  Stored(Content content, const Looks& looks);

  std::int64_t size() const override { return std::int64_t(content_.labels.size()); }
  Shape shape() const override { return content_.shape; }
  const std::vector<std::string>& class_names() const override { return content_.class_names; }
  std::int64_t label(std::int64_t index) const override;
  Sample read(std::int64_t index, const View& view, std::span<float> out) const override;
  Picture picture(std::int64_t index) const override;

 private:
  std::span<const std::uint8_t> pixels(std::int64_t index) const;

  Content content_;
  std::int64_t random_crop_;
  bool flip_;
  std::vector<std::array<float, 256>> tables_;  // normalised value of each 8-bit value, a channel
};

/// The options that `Stored::Looks::of` reads.
struct LooksDefaults {
  std::string_view mean;
  std::string_view deviation;
  std::string_view random_crop = "0";
  std::string_view flip = "false";
};
std::vector<base::Option> looks_options(const LooksDefaults& defaults);

}  // namespace parajoule::data
