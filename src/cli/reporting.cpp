#include "cli/reporting.h"

#include <cmath>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/numbers.h"
#include "cli/one_line.h"

namespace parajoule::cli {
namespace {

std::optional<Drawn> drawn(const std::optional<base::Watts>& power,
                           const std::optional<base::Joules>& energy) {
  if (!power || !energy) return {};
  return Drawn{.power = *power, .energy = *energy};
}

/// A diverged loss would be hundreds of digits.
std::string loss_text(double loss) {
  return std::abs(loss) < 1e6 ? fmt::format("{:.4f}", loss) : rounded(loss);
}

}  // namespace

Outlet to_launcher() {
  const Screen screen = standard_output();
  return {.show = [screen](const Standing& s) { screen.write(message(s) + '\n'); },
          .print = [screen](std::string_view lines) { screen.write(lines); },
          .now = screen.now};
}

Outlet to_person(Live& live) {
  return {.show = [&live](const Standing& standing) { live.show(standing); },
          .print = [&live](std::string_view lines) { live.print(lines); },
          .now = standard_output().now};
}

void Reporting::note(std::string_view text) { outlet_.print(one_line(text) + '\n'); }

void Reporting::live(const train::LiveState& state) {
  last_ = standing_of(state);
  outlet_.show(last_);
}

void Reporting::evaluating(std::int64_t) {
  if (last_.epochs == 0) return;
  last_.evaluating = true;
  outlet_.show(last_);
}

void Reporting::evaluated(std::int64_t epoch, const std::vector<train::Metric>& metrics) {
  const base::Seconds now = outlet_.now();
  const bool is_last = epoch + 1 == last_.epochs;
  if (!is_last && evaluation_told_at_ && now - *evaluation_told_at_ < between_evaluations) return;
  evaluation_told_at_ = now;
  outlet_.print(evaluation_line(epoch, metrics) + '\n');
}

Standing standing_of(const train::LiveState& state) {
  return {.epoch = state.epoch + 1,
          .epochs = state.epochs,
          .step = state.step,
          .steps = state.steps,
          .loss = state.loss,
          .top1_error_percent = state.top1_error,
          .samples_per_second = state.samples_per_second,
          .measured = drawn(state.energy.measured_power, state.energy.measured_energy),
          .modelled = drawn(state.energy.modelled_power, state.energy.modelled_energy),
          .left = state.left};
}

std::string evaluation_line(std::int64_t epoch, const std::vector<train::Metric>& metrics) {
  std::string line = fmt::format("epoch {}:", epoch + 1);
  std::string set;
  for (const train::Metric& metric : metrics) {
    if (!set.empty()) line += metric.set == set ? "," : ";";
    if (metric.set != set) line += fmt::format(" {}", set = metric.set);
    line += metric.unit == "%"
                ? fmt::format(" {} {:.2f} %", metric_name(metric.name), metric.value)
                : fmt::format(" {} {}", metric_name(metric.name), loss_text(metric.value));
  }
  return line;
}

}  // namespace parajoule::cli
