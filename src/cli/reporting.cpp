#include "cli/reporting.h"

#include <cerrno>
#include <cmath>
#include <memory>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
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

/// Lines on their way to the launcher. Those that it does not take yet wait here.
class Sending {
 public:
  explicit Sending(int file) : file_(file) {
    fcntl(file_, F_SETFL, fcntl(file_, F_GETFL) | O_NONBLOCK);
    signal(SIGPIPE, SIG_IGN);
  }
  ~Sending() {
    pollfd end{.fd = file_, .events = POLLOUT, .revents = 0};
    while (!waiting_.empty() && poll(&end, 1, last_milliseconds) > 0) push();
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;

  void keep(std::string_view lines) {
    waiting_ += lines;
    push();
  }

  /// Left out if others wait.
  void live(std::string_view line) {
    push();
    if (waiting_.empty()) keep(line);
  }

 private:
  void push() {
    while (!waiting_.empty()) {
      const ssize_t length = write(file_, waiting_.data(), waiting_.size());
      if (length < 0 && errno == EINTR) continue;
      if (length < 0 && errno == EAGAIN) return;
      // Whatever else is wrong: nobody reads.
      waiting_.erase(0, length < 0 ? waiting_.npos : std::size_t(length));
    }
  }

  static constexpr int last_milliseconds = 1000;

  int file_;
  std::string waiting_;
};

}  // namespace

Outlet to_launcher(int file) {
  const auto sending = std::make_shared<Sending>(file);
  return {.show = [sending](const Standing& s) { sending->live(message(s) + '\n'); },
          .print = [sending](std::string_view lines) { sending->keep(lines); },
          .now = standard_output().now};
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
