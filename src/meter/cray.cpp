#include "meter/cray.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "meter/counter.h"
#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

// "raw_scan_hz" is 10 (Cray XC and EX); numbers are whole joules and watts.
constexpr Seconds update_period{0.1};
constexpr Seconds longest_standstill{5};

/// 95 % bound. No comparison with an external meter is known to us: assumed.
constexpr double bias = 0.05;

/// What the files say of themselves, shared by all that are read.
class State {
 public:
  explicit State(const fs::path& folder)
      : generation_(folder / "generation"), freshness_(folder / "freshness") {}

  /// Of the counters; none if there is no such file.
  std::optional<std::uint64_t> generation() const { return number(generation_); }

  /// For how long the numbers have not been renewed.
  Seconds standstill(Seconds now) {
    const auto freshness = number(freshness_);
    if (!freshness || freshness != last_) moved_ = now;
    last_ = freshness;
    return now - moved_.value_or(now);
  }

 private:
  static std::optional<std::uint64_t> number(const KernelFile& file) {
    const auto read = file.number();
    const auto* number = std::get_if<std::uint64_t>(&read);
    return number ? std::optional(*number) : std::nullopt;
  }

  KernelFile generation_;
  KernelFile freshness_;
  std::optional<std::uint64_t> last_;
  std::optional<Seconds> moved_;
};

class CraySource final : public Source {
 public:
  CraySource(Description description, KernelFile file, std::shared_ptr<State> state)
      : description_(std::move(description)),
        file_(std::move(file)),
        state_(std::move(state)),
        generation_(state_->generation()) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const bool counts = description_.quantity == Quantity::energy;
    const auto text = file_.text();
    if (const auto* failure = std::get_if<Failure>(&text))
      return Gap{Gap::Cause::failed, failure->text};
    const auto number = cray_number(std::get<std::string>(text), counts ? "J" : "W");
    if (!number) return Gap{Gap::Cause::failed, "not a number of that unit"};
    if (const Seconds old = state_->standstill(now); old > longest_standstill)
      return Gap{Gap::Cause::failed, fmt::format("not renewed for {:.1f} s", old.count())};
    if (counts) return counted(Joules{double(*number)}, now);
    return double(*number);
  }

 private:
  /// What a counter showed before it became another one stays; it goes on from there.
  Reading counted(Joules shown, Seconds now) {
    const auto before = std::exchange(generation_, state_->generation());
    const bool anew = before != generation_;
    if (anew) counter_ = Counter({.range = {}, .most = most});
    Reading reading = counter_.update(shown, now);
    if (anew) carried_ = last_ - shown.value;
    if (double* value = std::get_if<double>(&reading)) last_ = *value += carried_;
    if (!anew) return reading;
    return Gap{Gap::Cause::reset, fmt::format("generation went from {} to {}", before.value_or(0),
                                              generation_.value_or(0))};
  }

  static constexpr Watts most{50'000};  // more than a node of any kind draws

  Description description_;
  KernelFile file_;
  std::shared_ptr<State> state_;
  std::optional<std::uint64_t> generation_;
  Counter counter_{{.range = {}, .most = most}};
  double last_ = 0;
  double carried_ = 0;
};

/// A file and what it stands for.
struct Listed {
  std::string file;
  std::string device;
  std::string kind;
  std::string words;
};

std::vector<Listed> files_in(const fs::path& folder) {
  std::vector<Listed> files = {{"energy", "node", "node", "whole node"},
                               {"power", "node", "node", "whole node"},
                               {"cpu_energy", "node cpu", "cpu", "all processors of the node"},
                               {"memory_energy", "node memory", "memory", "memory of the node"}};
  for (int i = 0; fs::exists(folder / fmt::format("accel{}_energy", i)); ++i)
    files.push_back({fmt::format("accel{}_energy", i), fmt::format("node accelerator {}", i), "gpu",
                     fmt::format("accelerator {} of the node", i)});
  return files;
}

Description described(const Listed& listed) {
  const bool counts = listed.file.ends_with("energy");
  Description description{
      .device = listed.device,
      .device_kind = listed.kind,
      .quantity = counts ? Quantity::energy : Quantity::power,
      .unit = counts ? "joules" : "watts",
      .label = Label::measured,
      .covers = fmt::format("{}, Cray pm_counters ({}); {}", listed.words, listed.file, untried),
      .resolution = 1,
      .update_period = update_period,
      .bias_relative = bias};
  if (listed.device != "node") description.part_of = "node";
  return description;
}

}  // namespace

std::optional<std::uint64_t> cray_number(std::string_view text, std::string_view unit) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(std::size_t(rest - text.data()));
  if (!text.starts_with(' ')) return {};
  text.remove_prefix(1);
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  return word == unit ? std::optional(number) : std::nullopt;
}

Opened open_cray(const Options& options) {
  Opened opened;
  const fs::path folder = options.sys / "cray/pm_counters";
  std::error_code none;
  if (!fs::is_directory(folder, none)) return opened;
  const auto state = std::make_shared<State>(folder);
  for (const Listed& listed : files_in(folder)) {
    if (!fs::exists(folder / listed.file, none)) continue;
    Description description = described(listed);
    KernelFile file(folder / listed.file);
    const auto text = file.text();
    const auto missing = [&](std::string reason, Unavailable::State why) {
      opened.unavailable.push_back({.what = description.covers,
                                    .reason = std::move(reason),
                                    .remedy = "ask the administrator of the machine",
                                    .state = why});
    };
    if (const auto* failure = std::get_if<Failure>(&text))
      missing(failure->text, Unavailable::State::unreadable);
    else if (!cray_number(std::get<std::string>(text), listed.file == "power" ? "W" : "J"))
      missing(
          fmt::format("'{}' is no number of that unit", std::get<std::string>(text).substr(0, 40)),
          Unavailable::State::dead);
    else
      opened.sources.push_back(
          std::make_unique<CraySource>(std::move(description), std::move(file), state));
  }
  return opened;
}

}  // namespace parajoule::meter
