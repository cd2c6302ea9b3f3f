#include "meter/hwmon.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "meter/amd.h"
#include "meter/counter.h"
#include "meter/hwmon_chips.h"
#include "meter/kernel_file.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

/// 95 % bound where the driver states none: assumed. INA219 and its kind are within 1 %, but the
/// resistor they look at is the board's.
constexpr double assumed_bias = 0.1;

/// The files that make one power or energy, and how.
class HwmonSource final : public Source {
 public:
  /// Adds up files with signs, or multiplies the two of a current and a voltage.
  enum class Way { sum, product };
  struct Term {
    KernelFile file;
    double factor;
  };

  HwmonSource(Description description, std::vector<Term> terms, Way way)
      : description_(std::move(description)), terms_(std::move(terms)), way_(way) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    double value = way_ == Way::sum ? 0 : 1;
    for (const Term& term : terms_) {
      const auto number = term.file.number();
      if (const auto* failure = std::get_if<Failure>(&number))
        return Gap{Gap::Cause::failed, failure->text};
      const double part = double(std::get<std::uint64_t>(number)) * term.factor;
      value = way_ == Way::sum ? value + part : value * part;
    }
    if (description_.quantity == Quantity::energy) return counter_.update(Joules{value}, now);
    const bool possible = value >= 0 && value < most.value;
    return possible ? Reading(value) : Gap{Gap::Cause::implausible, fmt::format("{} W", value)};
  }

 private:
  static constexpr Watts most{20'000};

  Description description_;
  std::vector<Term> terms_;
  Way way_;
  Counter counter_{{.range = {}, .most = most}};
};

/// What a chip stands for.
struct Known {
  std::string_view name;
  std::string_view kind;   ///< of its device; empty: it is left out
  std::string_view words;  ///< what it covers, or why it is left out
};

constexpr std::string_view amd_gpu = "amdgpu";

constexpr Known known[] = {
    {"power_meter", "node", "whole node, as its firmware meters it"},
    {"fam15h_power", "cpu", "cpu package"},
    {"i915", "gpu", "GPU"},
    {"xe", "gpu", "GPU"},
    {amd_gpu, "", "the family of AMD GPUs reads the same sensor"},
    {"nvidia", "", "the family of NVIDIA GPUs reads the same sensor"},
    {"amd_energy", "", "RAPL reads the same counters"},
};

/// Of AMD's GPUs where nothing else reads them. Those on boards of their own can be given a limit;
/// a GPU within a processor draws its power as part of the package.
constexpr Known amd_board = {amd_gpu, "gpu",
                             "AMD GPU by its driver alone, whole board; whether it is of this run "
                             "is not known"};
constexpr Known amd_within = {amd_gpu, "sensor",
                              "AMD GPU by its driver alone, within a processor; the package holds "
                              "it, so it is in no total"};

const Known& known_as(const Chip& chip) {
  static constexpr Known other = {"", "sensor",
                                  "a sensor of the board; what else holds it is not "
                                  "known, so it is in no total"};
  if (chip.name == amd_gpu && chip.fallback) {
    std::error_code none;
    return std::filesystem::exists(chip.folder / "power1_cap", none) ? amd_board : amd_within;
  }
  const auto found = std::ranges::find(known, chip.name, &Known::name);
  return found == std::end(known) ? other : *found;
}

std::optional<std::string> stated(const Channel& channel, const char* what) {
  return line_of(channel.file.parent_path() /
                 fmt::format("{}{}_{}", channel.quantity, channel.number, what));
}

/// Over which the device averages: the ACPI meter says it in milliseconds.
std::optional<Seconds> interval_of(const Channel& channel) {
  const auto file = channel.file.parent_path() /
                    fmt::format("{}{}_average_interval", channel.quantity, channel.number);
  const auto milliseconds = number_in(file);
  if (!milliseconds || *milliseconds == 0) return {};
  return Seconds(double(*milliseconds) * 1e-3);
}

/// `power1_accuracy` of the ACPI meter: `95.5%` of the truth at least.
double bias_of(const Channel& channel) {
  const std::string text = stated(channel, "accuracy").value_or("");
  double percent = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool whole = error == std::errc() && *rest == '%' && percent > 0 && percent < 100;
  return whole ? 1 - percent / 100 : assumed_bias;
}

Description described(const Chip& chip, const Channel& channel, std::string device) {
  const bool counts = channel.quantity == "energy";
  const Known& as = known_as(chip);
  const std::string label = channel.label ? fmt::format(" '{}'", *channel.label) : "";
  Description description{
      .device = std::move(device),
      .device_kind = std::string(as.kind),
      .quantity = counts ? Quantity::energy : Quantity::power,
      .unit = counts ? "joules" : "watts",
      .label = Label::measured,
      .covers =
          fmt::format("{}: {}{} of {}{}{}, hwmon; {}", as.words, channel.file.filename().string(),
                      label, chip.name, chip.place.empty() ? "" : " at ", chip.place, untried),
      .resolution = 1e-6,
      .bias_relative = bias_of(channel)};
  if (const auto interval = interval_of(channel); interval && channel.averaged)
    description.update_period = description.window = *interval;
  return description;
}

/// `ina219 VDD_IN`; with the chip's place where another one is called the same.
std::string device_of(const Chip& chip, const Channel& channel, bool alone) {
  const std::string own =
      channel.label.value_or(fmt::format("{}{}", channel.quantity, channel.number));
  return alone ? fmt::format("{} {}", chip.name, own)
               : fmt::format("{} {} {}", chip.name, chip.place, own);
}

void add(Opened& opened, Description description, std::vector<HwmonSource::Term> terms,
         HwmonSource::Way way) {
  for (const HwmonSource::Term& term : terms) {
    const auto number = term.file.number();
    const auto* failure = std::get_if<Failure>(&number);
    if (!failure) continue;
    const bool denied = failure->code == EACCES || failure->code == EPERM;
    opened.unavailable.push_back(
        {.what = description.covers,
         .reason = failure->text,
         .remedy = denied ? "the file's owner has to open it: sudo chmod a+r"
                          : "none known: the driver lists it but does not read it",
         .state = denied ? Unavailable::State::unreadable : Unavailable::State::dead});
    return;
  }
  opened.sources.push_back(
      std::make_unique<HwmonSource>(std::move(description), std::move(terms), way));
}

std::vector<HwmonSource::Term> one(const Channel& channel, double factor = 1e-6) {
  std::vector<HwmonSource::Term> terms;
  terms.push_back({KernelFile(channel.file), factor});
  return terms;
}

// Grace -----------------------------------------------------------------------------------------

using Grace = std::map<GraceMeter::Part, std::pair<const Chip*, const Channel*>>;

Description grace_part(const Chip& chip, const Channel& channel, std::string device,
                       std::string kind, std::string words) {
  Description description = described(chip, channel, std::move(device));
  description.device_kind = std::move(kind);
  description.covers = fmt::format("{}: '{}' of the ACPI power meter, hwmon; {}", words,
                                   channel.label.value_or(""), untried);
  return description;
}

/// The memory has no meter of its own: it is what the socket draws beside cores and SysIO.
void add_grace_memory(Opened& opened, const Grace& meters, int socket) {
  using enum GraceMeter::Part;
  const auto& [chip, channel] = meters.at(grace);
  Description memory = grace_part(*chip, *channel, fmt::format("grace {} dram", socket), "memory",
                                  fmt::format("memory of Grace {}", socket));
  memory.part_of = fmt::format("grace {}", socket);
  memory.bias_relative = 3 * memory.bias_relative.value_or(0);
  memory.formula = "grace - cpu - sysio, read one after the other; their biases add up";
  std::vector<HwmonSource::Term> terms = one(*channel);
  for (GraceMeter::Part part : {cpu, sysio})
    terms.push_back({KernelFile(meters.at(part).second->file), -1e-6});
  add(opened, std::move(memory), std::move(terms), HwmonSource::Way::sum);
}

void add_grace(Opened& opened, const Grace& meters, int socket) {
  using enum GraceMeter::Part;
  const std::string name = fmt::format("grace {}", socket);
  const auto words = [&](const char* what) { return fmt::format("{} of Grace {}", what, socket); };
  for (const auto& [part, meter] : meters) {
    const auto& [chip, channel] = meter;
    Description description =
        part == whole ? grace_part(*chip, *channel, fmt::format("superchip {}", socket), "module",
                                   words("whole module, with its GPU if there is one,"))
        : part == grace
            ? grace_part(*chip, *channel, name, "cpu", words("processor socket with its memory,"))
        : part == cpu ? grace_part(*chip, *channel, name + " cpu", "cpu", words("cores"))
                      : grace_part(*chip, *channel, name + " sysio", "cpu", words("SysIO"));
    if (part == cpu || part == sysio) description.part_of = name;
    add(opened, std::move(description), one(*channel), HwmonSource::Way::sum);
  }
  if (meters.contains(grace) && meters.contains(cpu) && meters.contains(sysio))
    add_grace_memory(opened, meters, socket);
}

void add_all_grace(Opened& opened, const std::vector<Chip>& chips) {
  std::map<int, Grace> sockets;
  for (const Chip& chip : chips)
    for (const Channel& channel : chip.channels)
      if (const auto meter = grace_meter(channel.label.value_or("")))
        sockets[meter->socket].try_emplace(meter->part, &chip, &channel);
  for (const auto& [socket, meters] : sockets) add_grace(opened, meters, socket);
}

// All others ------------------------------------------------------------------------------------

/// Current times voltage, of a chip that has both under one number and tells no power.
void add_products(Opened& opened, const Chip& chip, bool alone) {
  for (const Channel& current : chip.channels) {
    if (current.quantity != "curr") continue;
    const auto voltage = std::ranges::find_if(chip.channels, [&](const Channel& other) {
      return other.quantity == "in" && other.number == current.number;
    });
    if (voltage == chip.channels.end()) continue;
    Channel named = current;
    if (!named.label) named.label = voltage->label;
    Description description = described(chip, named, device_of(chip, named, alone));
    description.formula =
        fmt::format("{} times {}, read one after the other", current.file.filename().string(),
                    voltage->file.filename().string());
    std::vector<HwmonSource::Term> terms = one(current, 1e-3);
    terms.push_back({KernelFile(voltage->file), 1e-3});
    add(opened, std::move(description), std::move(terms), HwmonSource::Way::product);
  }
}

bool tells(const Chip& chip, std::string_view quantity) {
  return std::ranges::count(chip.channels, quantity, &Channel::quantity) > 0;
}

/// Of Intel's GPUs: the channel of the card, which holds that of the package.
const Channel* card_of(const Chip& chip, const Channel& channel) {
  if (channel.label != "pkg") return nullptr;
  const auto card = std::ranges::find_if(chip.channels, [&](const Channel& other) {
    return other.label == "card" && other.quantity == channel.quantity;
  });
  return card == chip.channels.end() ? nullptr : &*card;
}

void add_chip(Opened& opened, const Chip& chip, bool alone) {
  const bool energetic = tells(chip, "power") || tells(chip, "energy");
  const Known& as = known_as(chip);
  if (as.kind.empty()) {
    if (energetic)
      opened.unavailable.push_back({.what = fmt::format("{} {}, hwmon", chip.name, chip.place),
                                    .reason = std::string(as.words),
                                    .remedy = "none needed",
                                    .state = Unavailable::State::spare});
    return;
  }
  for (const Channel& channel : chip.channels) {
    const bool wanted = channel.quantity == "power" || channel.quantity == "energy";
    if (!wanted || grace_meter(channel.label.value_or(""))) continue;
    Description description = described(chip, channel, device_of(chip, channel, alone));
    if (as.kind == "node") description.device = "node";
    if (const Channel* card = card_of(chip, channel))
      description.part_of = device_of(chip, *card, alone);
    add(opened, std::move(description), one(channel), HwmonSource::Way::sum);
  }
  if (!energetic) add_products(opened, chip, alone);
}

}  // namespace

std::optional<GraceMeter> grace_meter(std::string_view words) {
  using enum GraceMeter::Part;
  constexpr std::pair<std::string_view, GraceMeter::Part> parts[] = {
      {"Module Power Socket ", whole},
      {"Grace Power Socket ", grace},
      {"CPU Power Socket ", cpu},
      {"SysIO Power Socket ", sysio}};
  for (const auto& [begin, part] : parts) {
    if (!words.starts_with(begin)) continue;
    const char* end = words.data() + words.size();
    int socket = -1;
    const auto [rest, error] = std::from_chars(words.data() + begin.size(), end, socket);
    if (error == std::errc() && rest == end && socket >= 0) return GraceMeter{part, socket};
  }
  return {};
}

Opened open_hwmon(const Options& options) {
  Opened opened;
  std::vector<Chip> chips = hwmon_chips(options.sys);
  const bool amd = std::ranges::count(chips, amd_gpu, &Chip::name) > 0 && !amd_answers(options);
  for (Chip& chip : chips) chip.fallback = amd && chip.name == amd_gpu;
  add_all_grace(opened, chips);
  for (const Chip& chip : chips) {
    const bool alone = std::ranges::count(chips, chip.name, &Chip::name) == 1;
    add_chip(opened, chip, alone);
  }
  return opened;
}

}  // namespace parajoule::meter
