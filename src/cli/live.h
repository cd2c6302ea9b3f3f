#pragma once

// The live line: rewritten in place in a terminal, plain lines now and then in a pipe.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "cli/standing.h"

namespace parajoule::cli {

/// The line for a terminal of `columns`, at most `columns` - 1 characters so that it never wraps,
/// and the heading above it. What does not fit is left out, the least telling first; the numbers
/// of every line stand below the words of the same heading.
struct LiveText {
  std::string heading;
  std::string line;
};
LiveText live_text(const Standing& standing, std::size_t columns);

/// The same as a sentence for a file.
std::string plain_text(const Standing& standing);

/// Where lines go. `columns`: of a terminal; none: a pipe or a file.
struct Screen {
  std::function<bool(std::string_view)> write;  ///< false once nobody reads any more
  std::function<void(std::string_view)> warn;   ///< standard error
  std::function<std::optional<std::size_t>()> columns;
  std::function<base::Seconds()> now;
};

/// Standard output and standard error of this process.
Screen standard_output();

class Live {
 public:
  static constexpr base::Seconds between_lines{5};  ///< at least, in a pipe
  static constexpr base::Seconds between_frames{0.1};

  explicit Live(Screen screen) : screen_(std::move(screen)) {}

  void show(const Standing& standing);

  /// Text for a person, whole lines; the live line goes on below it.
  void print(std::string_view lines);

  /// The same on standard error.
  void warn(std::string_view lines);

  /// Leaves the last state standing and goes to the next line.
  void finish();

  /// Whether somebody still reads what is written.
  bool has_reader() const { return has_reader_; }

 private:
  void write(std::string_view text) { has_reader_ = screen_.write(text) && has_reader_; }
  void draw(std::size_t columns);
  void erase();
  template <class Writer>
  void above(std::string_view lines, Writer&& writer);

  Screen screen_;
  std::optional<Standing> last_;
  std::optional<base::Seconds> shown_at_;
  static constexpr std::ptrdiff_t most_lines_below = 15;

  std::string heading_;             ///< the one last printed
  std::ptrdiff_t lines_below_ = 0;  ///< since then
  bool drawn_ = false;              ///< a live line stands on the screen
  bool has_reader_ = true;
};

}  // namespace parajoule::cli
