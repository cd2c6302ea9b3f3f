#include "meter/hwmon_chips.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <tuple>

#include <fmt/format.h>

#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace fs = std::filesystem;

namespace {

constexpr std::array<std::string_view, 5> quantities = {"power", "energy", "curr", "in", "temp"};

/// `power12_average` as a channel; none if the file is something else.
std::optional<Channel> channel_of(const fs::path& file) {
  const std::string name = file.filename();
  for (std::string_view quantity : quantities) {
    if (!name.starts_with(quantity)) continue;
    int number = 0;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + quantity.size(), end, number);
    const std::string_view kind(rest, std::size_t(end - rest));
    if (error != std::errc() || number < 0) continue;
    if (kind != "_input" && kind != "_average") continue;
    return Channel{.file = file,
                   .quantity = std::string(quantity),
                   .number = number,
                   .averaged = kind == "_average"};
  }
  return {};
}

/// What the driver or the firmware calls a channel.
std::optional<std::string> label_of(const fs::path& folder, const Channel& channel) {
  for (const char* kind : {"label", "oem_info"}) {
    const auto text =
        line_of(folder / fmt::format("{}{}_{}", channel.quantity, channel.number, kind));
    if (text && !text->empty()) return text;
  }
  return {};
}

/// Of a mean and a moment of one quantity, the mean is kept: it misses nothing between two looks.
void keep_one_each(std::vector<Channel>& channels) {
  const auto place = [](const Channel& c) {
    return std::tuple(std::ranges::find(quantities, c.quantity), c.number, !c.averaged);
  };
  std::ranges::sort(channels, {}, place);
  const auto repeated = std::ranges::unique(channels, [](const Channel& a, const Channel& b) {
    return a.quantity == b.quantity && a.number == b.number;
  });
  channels.erase(repeated.begin(), repeated.end());
}

std::vector<Channel> channels_in(const fs::path& folder) {
  std::vector<Channel> channels;
  for (const fs::path& place : {folder, folder / "device"}) {
    std::error_code error;
    for (fs::directory_iterator entry(place, error), end; !error && entry != end;
         entry.increment(error)) {
      auto channel = channel_of(entry->path());
      if (!channel) continue;
      channel->label = label_of(place, *channel);
      channels.push_back(std::move(*channel));
    }
  }
  keep_one_each(channels);
  return channels;
}

/// The last name of the device behind the chip.
std::string place_of(const fs::path& folder) {
  std::error_code error;
  const fs::path device = fs::canonical(folder / "device", error);
  return error ? std::string() : device.filename().string();
}

std::string name_of(const fs::path& folder) {
  for (const fs::path& file : {folder / "name", folder / "device/name"})
    if (const auto name = line_of(file); name && !name->empty()) return *name;
  return "nameless chip";
}

}  // namespace

std::vector<Chip> hwmon_chips(const fs::path& sys) {
  std::vector<Chip> chips;
  std::error_code error;
  for (fs::directory_iterator entry(sys / "class/hwmon", error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path folder = entry->path();
    if (std::error_code none; !fs::is_directory(folder, none)) continue;
    chips.push_back({.name = name_of(folder),
                     .place = place_of(folder),
                     .folder = folder,
                     .channels = channels_in(folder)});
  }
  std::ranges::sort(chips, {}, [](const Chip& chip) { return std::tie(chip.name, chip.place); });
  return chips;
}

}  // namespace parajoule::meter
