#include "meter/processor_time.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace parajoule::meter {

namespace {

/// The number at the front of `text`, which is cut off; none if there is no number.
std::optional<double> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  unsigned long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(std::size_t(end - text.data()));
  return double(number);
}

/// Of the fields user nice system idle iowait irq softirq steal; old kernels have fewer.
Ticks ticks_of(std::string_view fields) {
  std::array<double, 8> field{};
  for (double& value : field) value = take_number(fields).value_or(0);
  const auto [user, nice, system, idle, waiting, interrupts, soft, stolen] = field;
  const double busy = user + nice + system + interrupts + soft;
  return {busy, busy + idle + waiting + stolen};
}

std::variant<Ticks, Failure> ticks_of(const std::variant<std::string, Failure>& stat,
                                      const std::vector<int>& processors) {
  if (const auto* failure = std::get_if<Failure>(&stat)) return *failure;
  return ticks_in(std::get<std::string>(stat), processors);
}

}  // namespace

std::variant<Ticks, Failure> ticks_in(std::string_view stat, const std::vector<int>& processors) {
  Ticks sum;
  bool found = false;
  while (!stat.empty()) {
    std::string_view line = stat.substr(0, stat.find('\n'));
    stat.remove_prefix(std::min(line.size() + 1, stat.size()));
    if (!line.starts_with("cpu")) continue;
    line.remove_prefix(3);
    if (line.starts_with(' ')) continue;  // the sum of all
    const auto processor = take_number(line);
    if (!processor || !std::ranges::binary_search(processors, *processor)) continue;
    const Ticks ticks = ticks_of(line);
    sum.busy += ticks.busy;
    sum.all += ticks.all;
    found = true;
  }
  if (found) return sum;
  return Failure{0, fmt::format("no line for any of the processors {}", ranges(processors))};
}

Utilisation::Utilisation(std::shared_ptr<SharedFile> stat, std::vector<int> processors)
    : stat_(std::move(stat)), processors_(std::move(processors)) {
  const auto first = ticks_of(stat_->text(), processors_);
  if (const auto* ticks = std::get_if<Ticks>(&first)) last_ = *ticks;
}

std::variant<std::optional<double>, Failure> Utilisation::read(base::Seconds moment) {
  const auto read = ticks_of(stat_->text(moment), processors_);
  if (const auto* failure = std::get_if<Failure>(&read)) return *failure;
  const Ticks now = std::get<Ticks>(read);
  const Ticks before = last_.value_or(now);
  if (!last_) last_ = now;
  const double passed = now.all - before.all;
  if (passed <= 0) return std::nullopt;
  last_ = now;
  return std::clamp((now.busy - before.busy) / passed, 0.0, 1.0);
}

}  // namespace parajoule::meter
