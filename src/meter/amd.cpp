#include "meter/amd.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/environment.h"
#include "meter/amd_library.h"
#include "meter/amd_visible.h"
#include "meter/kernel_file.h"

namespace parajoule::meter {

using base::Seconds;
using base::Watts;

namespace {

using Library = std::shared_ptr<const AmdLibrary>;

/// A GPU as ROCm counts them: of a package with two dies each is one.
struct Die {
  unsigned index;
  std::string model = "of unknown model";
  std::string name = {};                 ///< `GPU-` and its unique id
  std::optional<unsigned> package = {};  ///< first die of its package, if that has two
  Watts most{6000};                      ///< three times what it may draw
  std::string title() const { return fmt::format("AMD GPU {}", index); }
  bool second() const { return package && *package != index; }
};

std::filesystem::path folder_of(const Options& options, std::uint64_t address) {
  const std::string place = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address >> 32,
                                        (address >> 8) & 0xff, (address >> 3) & 0x1f, address & 7);
  return options.sys / "bus/pci/devices" / place;
}

/// MI250 and MI250X, whose packages hold two dies that are GPUs of their own.
bool has_two_dies(std::string_view pci_device) {
  return pci_device == "0x740c" || pci_device == "0x7408";
}

std::vector<Die> all_dies(const Options& options, const AmdLibrary& library) {
  std::vector<Die> dies;
  std::optional<unsigned> first;  // of a package whose second die is yet to come
  for (unsigned index = 0; index < library.count(); ++index) {
    Die die{.index = index};
    if (const auto address = library.pci_address(index)) {
      const std::filesystem::path folder = folder_of(options, *address);
      if (const auto id = line_of(folder / "unique_id")) die.name = "GPU-" + *id;
      if (const auto model = line_of(folder / "product_name"); model && !model->empty())
        die.model = *model;
      if (has_two_dies(line_of(folder / "device").value_or(""))) {
        die.package = first.value_or(index);
        first = first ? std::nullopt : std::optional(index);
      }
    }
    const Answer limit = library.ask(index, AmdNumber::power_limit);
    if (const auto* watts = std::get_if<double>(&limit); watts && *watts > 0)
      die.most = Watts{3 * *watts};
    dies.push_back(std::move(die));
  }
  return dies;
}

// What is asked of a die ------------------------------------------------------------------------

Description described(const AmdLibrary& library, const Die& die, std::string_view what) {
  const std::string scope = !die.package   ? "whole board"
                            : die.second() ? "second die of its package"
                                           : "package with both its dies";
  Description description{.device = die.title(),
                          .device_kind = "gpu",
                          .quantity = Quantity::power,
                          .unit = "watts",
                          .label = Label::measured,
                          .covers = fmt::format("{} {} ({}), {}, {} {}; {}", die.title(), die.model,
                                                die.name.empty() ? "no id" : die.name, scope,
                                                library.title(), what, untried)};
  if (die.second()) description.part_of = fmt::format("AMD GPU {}", *die.package);
  return description;
}

void add(const Library& library, const Die& die, AmdNumber number, Description description,
         Opened& opened) {
  opened.sources.push_back(std::make_unique<AskedSource>(AskedSource::Options{
      .description = std::move(description),
      .ask = [library, gpu = die.index, number] { return library->ask(gpu, number); },
      .most = die.most}));
}

/// No comparison of these sensors with an external meter is known to us: as for other GPUs.
constexpr double bias = 0.08;

/// The second die of a package shows 0 W, which is not what it draws.
bool tells(const Answer& answer, const Die& die) {
  const auto* value = std::get_if<double>(&answer);
  return value && (!die.second() || *value > 0);
}

bool add_counter(const Library& library, const Die& die, Opened& opened) {
  if (!tells(library->ask(die.index, AmdNumber::energy), die)) return false;
  Description description = described(*library, die, "energy counter");
  description.quantity = Quantity::energy;
  description.unit = "joules";
  description.bias_relative = bias;
  description.resolution = 15.3e-6;
  description.formula = "differences of the accumulator times the resolution it comes with";
  add(library, die, AmdNumber::energy, std::move(description), opened);
  return true;
}

bool add_power(const Library& library, const Die& die, bool counter, Opened& opened) {
  for (AmdNumber number : {AmdNumber::current_power, AmdNumber::average_power}) {
    if (!tells(library->ask(die.index, number), die)) continue;
    const bool current = number == AmdNumber::current_power;
    Description description =
        described(*library, die, current ? "power of the moment" : "average power");
    description.bias_relative = bias;
    description.resolution = 1;
    description.formula =
        fmt::format("{} socket power, energy by the trapezoid rule{}",
                    current ? "current" : "average", counter ? "" : "; no energy counter");
    add(library, die, number, std::move(description), opened);
    return true;
  }
  return false;
}

/// Once a second, if it is told now; no energy depends on it.
void add_others(const Library& library, const Die& die, Opened& opened) {
  struct Other {
    AmdNumber number;
    Quantity quantity;
    std::string_view unit, what;
  };
  constexpr Other others[] = {
      {AmdNumber::temperature, Quantity::temperature, "celsius", "temperature"},
      {AmdNumber::clock, Quantity::clock, "hertz", "clock of its shaders"},
      {AmdNumber::memory_clock, Quantity::clock, "hertz", "clock of its memory"},
      {AmdNumber::busy, Quantity::utilisation, "fraction", "share of time its shaders are busy"},
      {AmdNumber::memory, Quantity::memory, "bytes", "memory in use"},
  };
  for (const Other& other : others) {
    if (!std::holds_alternative<double>(library->ask(die.index, other.number))) continue;
    Description description = described(*library, die, other.what);
    description.quantity = other.quantity;
    description.unit = other.unit;
    description.part_of = {};
    description.update_period = Seconds(1);
    add(library, die, other.number, std::move(description), opened);
  }
}

void open_die(const Library& library, const Die& die, Opened& opened) {
  const bool counter = add_counter(library, die, opened);
  const bool power = add_power(library, die, counter, opened);
  add_others(library, die, opened);
  if (counter || power) return;
  const std::string what = fmt::format("{} {}", die.title(), die.model);
  if (die.second())
    opened.unavailable.push_back(
        {what,
         fmt::format("its power is in the number of AMD GPU {}, the first die of the package",
                     *die.package),
         "none needed", Unavailable::State::spare});
  else
    opened.unavailable.push_back({what, "tells neither energy nor power",
                                  "none here (usual for virtual GPUs): meter it on its host",
                                  Unavailable::State::unreadable});
}

// Which of them ---------------------------------------------------------------------------------

/// HIP reads CUDA_VISIBLE_DEVICES where its own variable is not set. A text a rank; none: all.
std::optional<std::vector<std::string>> hip_texts(const Options& options) {
  if (options.hip_visible_devices) return options.hip_visible_devices;
  if (const auto hip = base::environment("HIP_VISIBLE_DEVICES"))
    return std::vector<std::string>{*hip};
  if (options.visible_devices) return options.visible_devices;
  if (const auto cuda = own_visible_devices()) return std::vector<std::string>{*cuda};
  return {};
}

std::set<std::size_t> seen(const Options& options, const std::vector<Die>& dies, Opened& opened) {
  std::vector<std::string> names;
  for (const Die& die : dies) names.push_back(die.name);
  const auto rocr = options.rocr_visible_devices ? options.rocr_visible_devices
                                                 : base::environment("ROCR_VISIBLE_DEVICES");
  auto texts = hip_texts(options);
  std::vector<std::optional<std::string>> hips;
  if (texts) hips.assign(texts->begin(), texts->end());
  if (hips.empty()) hips.push_back({});  // nothing hidden
  std::set<std::size_t> gpus;
  for (const auto& hip : hips) {
    const VisibleAmdGpus visible = visible_amd_gpus(rocr, hip, names);
    gpus.insert(visible.gpus.begin(), visible.gpus.end());
    for (const std::string& remark : visible.remarks)
      opened.unavailable.push_back({"AMD GPUs", remark,
                                    "`rocm-smi --showuniqueid` lists what there is",
                                    Unavailable::State::absent});
  }
  return gpus;
}

/// Whose number is wanted: that of a second die is in the first one's.
std::set<std::size_t> with_packages(std::set<std::size_t> gpus, const std::vector<Die>& dies) {
  std::set<std::size_t> all = gpus;
  for (std::size_t gpu : gpus)
    if (dies[gpu].package) all.insert(*dies[gpu].package);
  return all;
}

OpenedAmd open_library(const Options& options) {
  OpenedAmd first = open_amd_smi(options.amd_smi);
  if (std::holds_alternative<Library>(first)) return first;
  OpenedAmd second = open_rocm_smi(options.rocm_smi);
  if (std::holds_alternative<Library>(second)) return second;
  return std::get<std::string>(first) + "; " + std::get<std::string>(second);
}

}  // namespace

bool amd_answers(const Options& options) {
  return std::holds_alternative<Library>(open_library(options));
}

Opened open_amd(const Options& options) {
  Opened opened;
  if (!std::filesystem::exists(options.sys / "module/amdgpu")) return opened;
  const OpenedAmd found = open_library(options);
  if (const auto* why = std::get_if<std::string>(&found)) {
    opened.unavailable.push_back({std::string(amd_gpus), *why,
                                  "if there is one, install ROCm's amd-smi-lib (Debian: "
                                  "librocm-smi64-1)",
                                  Unavailable::State::unreadable});
    return opened;
  }
  const Library& library = std::get<Library>(found);
  const std::vector<Die> dies = all_dies(options, *library);
  const std::set<std::size_t> gpus = with_packages(seen(options, dies, opened), dies);
  for (const Die& die : dies) {
    if (gpus.contains(die.index))
      open_die(library, die, opened);
    else
      opened.unavailable.push_back(
          {fmt::format("{} {}", die.title(), die.model),
           "not of this run: ROCR_VISIBLE_DEVICES or HIP_VISIBLE_DEVICES leaves it out",
           "none needed", Unavailable::State::left_out});
  }
  return opened;
}

}  // namespace parajoule::meter
