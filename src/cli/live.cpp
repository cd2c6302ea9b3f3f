#include "cli/live.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/numbers.h"
#include "cli/write_all.h"

namespace parajoule::cli {
namespace {

/// Stands where the time left does.
constexpr std::string_view evaluating = "evaluating";

/// A column of the live line. Those with a higher `rank` are left out first.
struct Column {
  std::string heading;
  std::string value;
  std::size_t width;  ///< at least
  int rank;
};

/// Four significant digits at most, and no more than fit the column.
std::string short_number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double size = std::abs(value);
  if (size < 10) return fmt::format("{:.3f}", value);
  if (size < 100) return fmt::format("{:.2f}", value);
  if (size < 1000) return fmt::format("{:.1f}", value);
  if (size < 1e6) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string watts(base::Watts power) { return fmt::format("{:.1f}", power.value); }

std::string short_watt_hours(base::Joules energy) { return short_number(energy.value / 3600); }

std::string of(std::int64_t part, std::int64_t whole) { return fmt::format("{}/{}", part, whole); }

void add_drawn(std::vector<Column>& columns, const std::optional<Drawn>& drawn,
               std::string_view label, int rank) {
  if (!drawn) return;
  columns.push_back({fmt::format("W {}", label), watts(drawn->power), 6, rank});
  columns.push_back({fmt::format("Wh {}", label), short_watt_hours(drawn->energy), 5, rank});
}

std::vector<Column> columns_of(const Standing& s) {
  std::vector<Column> columns;
  columns.push_back({"epoch", of(s.epoch, s.epochs), 2 * of(s.epochs, 0).size() - 3, 1});
  columns.push_back({"step", of(s.step, s.steps), 2 * of(s.steps, 0).size() - 3, 2});
  columns.push_back({"loss", short_number(s.loss), 5, 0});
  if (s.top1_error_percent) {
    columns.push_back({"top-1 error", fmt::format("{:.1f} %", *s.top1_error_percent), 7, 3});
  }
  const bool paced = s.samples_per_second > 0;
  columns.push_back({"samples/s", paced ? fmt::format("{:.0f}", s.samples_per_second) : "", 6, 5});
  add_drawn(columns, s.measured, "measured", 4);
  add_drawn(columns, s.modelled, "modelled", s.measured ? 7 : 4);
  // Always there, so that the heading stays the same when the estimate comes.
  const std::string left = s.left ? clock(*s.left) : "";
  columns.push_back({"left", s.evaluating ? std::string(evaluating) : left, evaluating.size(), 6});
  return columns;
}

std::size_t width_of(const Column& column) {
  return std::max({column.width, column.heading.size(), column.value.size()});
}

/// With `gap` spaces between columns.
std::size_t total_width(const std::vector<Column>& columns, std::size_t gap) {
  std::size_t width = 0;
  for (const Column& column : columns) width += width_of(column) + gap;
  return columns.empty() ? 0 : width - gap;
}

}  // namespace

LiveText live_text(const Standing& standing, std::size_t columns) {
  std::vector<Column> shown = columns_of(standing);
  while (!shown.empty() && total_width(shown, 1) + 1 > columns) {
    const int last = std::ranges::max(shown, {}, &Column::rank).rank;
    std::erase_if(shown, [&](const Column& column) { return column.rank == last; });
  }
  const std::size_t gap = total_width(shown, 2) + 1 > columns ? 1 : 2;
  LiveText text;
  for (const Column& column : shown) {
    const std::size_t width = width_of(column);
    const std::size_t left = text.line.empty() ? 0 : gap;
    text.heading += fmt::format("{:>{}}", column.heading, width + left);
    text.line += fmt::format("{:>{}}", column.value, width + left);
  }
  return text;
}

std::string plain_text(const Standing& s) {
  std::string text = fmt::format("epoch {} step {} loss {}", of(s.epoch, s.epochs),
                                 of(s.step, s.steps), short_number(s.loss));
  if (s.top1_error_percent) text += fmt::format(" top-1 error {:.1f} %", *s.top1_error_percent);
  if (s.samples_per_second > 0) text += fmt::format(" {:.0f} samples/s", s.samples_per_second);
  const auto add = [&](const std::optional<Drawn>& drawn, std::string_view label) {
    if (!drawn) return;
    text +=
        fmt::format(" {} W {} Wh {}", watts(drawn->power), short_watt_hours(drawn->energy), label);
  };
  add(s.measured, "measured");
  add(s.modelled, "modelled");
  if (s.evaluating) return fmt::format("{} {}", text, evaluating);
  if (s.left) text += fmt::format(" {} left", clock(*s.left));
  return text;
}

Screen standard_output() {
  return {
      .write = [](std::string_view text) { return write_all(STDOUT_FILENO, text); },
      .warn = [](std::string_view text) { write_all(STDERR_FILENO, text); },
      .columns = []() -> std::optional<std::size_t> {
        winsize size{};
        if (!isatty(STDOUT_FILENO)) return {};
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
        return size.ws_col;
      },
      .now = [] { return base::Seconds(std::chrono::steady_clock::now().time_since_epoch()); },
  };
}

void Live::show(const Standing& standing) {
  const bool turned = last_ && last_->evaluating != standing.evaluating;
  last_ = standing;
  const auto columns = screen_.columns();
  const base::Seconds now = screen_.now();
  // An evaluation may take long: that it began is said at once.
  const bool urgent = turned && standing.evaluating;
  if (!urgent && shown_at_ && now - *shown_at_ < (columns ? between_frames : between_lines)) return;
  shown_at_ = now;
  if (columns) return draw(*columns);
  write(plain_text(standing) + "\n");
}

void Live::draw(std::size_t columns) {
  const LiveText text = live_text(*last_, columns);
  erase();
  if (text.heading != heading_ || lines_below_ > most_lines_below) {
    write(text.heading + "\n");
    heading_ = text.heading;
    lines_below_ = 0;
  }
  write(text.line);
  drawn_ = true;
}

void Live::erase() {
  if (drawn_) write("\r\x1b[K");
  drawn_ = false;
}

template <class Writer>
void Live::above(std::string_view lines, Writer&& writer) {
  const auto columns = screen_.columns();
  const bool redraw = drawn_;
  erase();
  writer(lines);
  lines_below_ += std::ranges::count(lines, '\n');
  if (columns && redraw) draw(*columns);
}

void Live::print(std::string_view lines) {
  above(lines, [this](std::string_view text) { write(text); });
}

void Live::warn(std::string_view lines) { above(lines, screen_.warn); }

void Live::finish() {
  if (const auto columns = screen_.columns(); columns && last_) {
    draw(*columns);
    write("\n");
  }
  drawn_ = false;
  last_.reset();
  heading_.clear();
}

}  // namespace parajoule::cli
