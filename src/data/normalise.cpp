#include "data/normalise.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::data {

namespace {

std::vector<double> one_a_channel(std::string_view data_set, std::string_view key,
                                  std::vector<double> given, std::int64_t channels) {
  if (given.size() == 1) given.resize(std::size_t(channels), given[0]);
  if (std::int64_t(given.size()) != channels)
    throw base::Error(base::Fault::usage,
                      fmt::format("{}.{} has {} numbers; give one, or one for each of the {} "
                                  "channels",
                                  data_set, key, given.size(), channels));
  return given;
}

}  // namespace

Normalisation Normalisation::of(std::string_view data_set, const base::Settings& settings,
                                std::int64_t channels) {
  const auto mean = one_a_channel(data_set, "mean", settings.numbers("mean"), channels);
  const auto deviation =
      one_a_channel(data_set, "deviation", settings.numbers("deviation"), channels);
  if (std::ranges::any_of(deviation, [](double value) { return !(value > 0); }))
    throw base::Error(base::Fault::usage,
                      fmt::format("{}.deviation must be above 0 in every channel", data_set));
  Normalisation normalisation;
  for (std::size_t c = 0; c < mean.size(); ++c)
    normalisation.channels.push_back(
        {.scale = float(1 / (255 * deviation[c])), .shift = float(-mean[c] / deviation[c])});
  return normalisation;
}

std::array<float, 256> Normalisation::Channel::table() const {
  std::array<float, 256> values;
  for (std::size_t x = 0; x < values.size(); ++x) values[x] = float(x) * scale + shift;
  return values;
}

}  // namespace parajoule::data
