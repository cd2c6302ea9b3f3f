#include "cli/table.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>

#include <unistd.h>

#include "store/utf8.h"

namespace parajoule::cli {
namespace {

using store::first_sign;
using store::Sign;

constexpr std::string_view gap = "  ";
constexpr std::string_view unknown_sign = "\uFFFD";

struct Codes {
  char32_t first;
  char32_t last;
};
// Unicode 15: what East Asian Width calls wide or full, and marks that combine; whole blocks.
constexpr Codes wide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0xA4CF},  {0xA960, 0xA97F}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},  {0xFFE0, 0xFFE6}, {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
constexpr Codes combining[] = {{0x0300, 0x036F}, {0x0483, 0x0489},  {0x0591, 0x05BD},
                               {0x064B, 0x065F}, {0x1AB0, 0x1AFF},  {0x1DC0, 0x1DFF},
                               {0x200B, 0x200F}, {0x20D0, 0x20FF},  {0xFE00, 0xFE0F},
                               {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};

bool in(std::span<const Codes> blocks, char32_t code) {
  return std::ranges::any_of(
      blocks, [&](Codes block) { return block.first <= code && code <= block.last; });
}

std::size_t columns_of_code(std::optional<char32_t> code) {
  if (!code) return 1;
  if (in(combining, *code)) return 0;
  return in(wide, *code) ? 2 : 1;
}

// Bytes of the longest beginning of `text` that fits `columns`.
std::size_t prefix_of(std::string_view text, std::size_t columns) {
  std::size_t length = 0;
  for (std::size_t taken = 0; length < text.size();) {
    const Sign sign = first_sign(text.substr(length));
    taken += columns_of_code(sign.code);
    if (taken > columns) break;
    length += sign.bytes.size();
  }
  return length;
}

bool controls(char32_t code) {
  const bool c0_or_c1 = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool turns_text = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return c0_or_c1 || turns_text || code == 0x2028 || code == 0x2029;
}

std::string dressed(std::string_view text, const char* sequence, Look look) {
  if (look == Look::plain) return std::string(text);
  return std::string("\x1b[").append(sequence).append("m").append(text).append("\x1b[0m");
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

void end_line(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
}

}  // namespace

Look look_of(int file_descriptor) {
  const char* terminal = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  const bool dumb = !terminal || std::string_view(terminal) == "dumb";
  const bool unwanted = no_colour && *no_colour != '\0';
  return isatty(file_descriptor) && !dumb && !unwanted ? Look::terminal : Look::plain;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Sign sign = first_sign(text);
    columns += columns_of_code(sign.code);
    text.remove_prefix(sign.bytes.size());
  }
  return columns;
}

std::string shown(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Sign sign = first_sign(text);
    result += sign.code && !controls(*sign.code) ? sign.bytes : unknown_sign;
    text.remove_prefix(sign.bytes.size());
  }
  return result;
}

std::string cut(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  return std::string(text.substr(0, prefix_of(text, columns - 1))) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' ', 1));  // with the space before it
    text.remove_prefix(word.size());
    std::string& line = lines.back();
    if (columns_of(line) + columns_of(word) <= columns || line.empty())
      line += word;
    else
      lines.emplace_back(word.substr(word.front() == ' ' ? 1 : 0));
  }
  std::vector<std::string> fitting;
  for (std::string_view line : lines) {
    while (columns > 0 && columns_of(line) > columns) {  // a word that is longer than a line
      const std::size_t taken = std::max<std::size_t>(prefix_of(line, columns), 1);
      fitting.emplace_back(line.substr(0, taken));
      line.remove_prefix(taken);
    }
    fitting.emplace_back(line);
  }
  return fitting;
}

std::string rule_text(std::string_view title, std::size_t columns, Look look) {
  const std::string words = title.empty() ? "" : shown(title) + " ";
  const std::size_t taken = std::min(columns_of(words), columns);
  return dressed(words, "1", look) + dressed(repeated("─", columns - taken), "2", look) + "\n";
}

std::string dim(std::string_view text, Look look) {
  if (look == Look::plain || text.empty()) return std::string(text);
  const bool ends_line = text.back() == '\n';
  return dressed(text.substr(0, text.size() - ends_line), "2", look) + (ends_line ? "\n" : "");
}

void Table::add(const std::vector<std::string>& cells) {
  Line line;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    line.cells.push_back(i < cells.size() ? cut(shown(cells[i]), columns_[i].most) : "");
  lines_.push_back(std::move(line));
}

void Table::rule(std::string_view title) { lines_.push_back({{}, std::string(title)}); }

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_of(columns_[i].heading);
    for (const Line& line : lines_)
      if (!line.cells.empty()) width = std::max(width, columns_of(line.cells[i]));
    widths.push_back(width);
  }
  return widths;
}

std::size_t Table::across() const {
  const std::vector<std::size_t> widths = this->widths();
  return std::accumulate(widths.begin(), widths.end(), std::size_t(0)) +
         gap.size() * (widths.empty() ? 0 : widths.size() - 1);
}

std::string Table::row(const std::vector<std::string>& cells,
                       const std::vector<std::size_t>& widths) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += gap;
    const std::string padding(widths[i] - columns_of(cells[i]), ' ');
    text += columns_[i].align == Align::right ? padding + cells[i] : cells[i] + padding;
  }
  end_line(text);
  return text;
}

std::string Table::text(Look look) const {
  const std::vector<std::size_t> widths = this->widths();
  const std::size_t across = this->across();
  std::string text;
  std::vector<std::string> headings;
  for (const Column& column : columns_) headings.push_back(column.heading);
  if (std::ranges::any_of(headings, [](const std::string& heading) { return !heading.empty(); })) {
    const std::string line = row(headings, widths);
    text += dressed(line.substr(0, line.size() - 1), "1", look) + "\n";
    text += dressed(repeated("─", across), "2", look) + "\n";
  }
  for (const Line& line : lines_) {
    if (!line.cells.empty()) {
      text += row(line.cells, widths);
      continue;
    }
    text += rule_text(line.title, across, look);
  }
  return text;
}

std::string Table::fitting(Look look, std::size_t columns, std::size_t least) const {
  Table fewer = *this;
  while (fewer.across() > columns && fewer.columns_.size() > least) {
    fewer.columns_.pop_back();
    for (Line& line : fewer.lines_)
      if (!line.cells.empty()) line.cells.pop_back();
  }
  return fewer.text(look);
}

}  // namespace parajoule::cli
