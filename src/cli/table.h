#pragma once

// Tables of text: columns aligned by what a terminal shows, not by bytes; plain in a pipe.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parajoule::cli {

/// `terminal` has bold headings and dim rules; `plain` has no control characters at all.
enum class Look { plain, terminal };

/// That of an open file of this process: a terminal, unless TERM=dumb or NO_COLOR say otherwise.
Look look_of(int file_descriptor);

/// How many columns of a terminal UTF-8 text takes: two for wide signs, none for accents that
/// combine, one for a byte that is no UTF-8.
std::size_t columns_of(std::string_view text);

/// `text` fit to be shown: a control character or a byte that is no UTF-8 becomes U+FFFD, so that a
/// name out of a file cannot steer the terminal.
std::string shown(std::string_view text);

/// The beginning of `text` that fits `columns`, with … where something was cut off.
std::string cut(std::string_view text, std::size_t columns);

/// `text` in lines of at most `columns`, broken at spaces where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// `text`, less bright in a terminal; it may hold whole lines.
std::string dim(std::string_view text, Look look);

/// `title` and a line behind it, `columns` wide together, and a newline.
std::string rule_text(std::string_view title, std::size_t columns, Look look);

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string heading = {};  ///< none at all, if all are empty
    Align align = Align::left;
    std::size_t most = 1000;  ///< terminal columns; longer cells are cut
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// A row of at most as many cells as columns; they are passed through `shown`.
  void add(const std::vector<std::string>& cells);
  /// A line across the table, with a title if there is one.
  void rule(std::string_view title = {});

  bool empty() const { return lines_.empty(); }

  std::size_t across() const;  ///< columns of the terminal that the table takes

  /// Lines that end with a newline and have no spaces before it.
  std::string text(Look look) const;

  /// The same without its last columns, as many of them as it takes to fit; `least` stay.
  std::string fitting(Look look, std::size_t columns, std::size_t least) const;

 private:
  struct Line {
    std::vector<std::string> cells;
    std::string title;
  };
  std::vector<std::size_t> widths() const;
  std::string row(const std::vector<std::string>& cells,
                  const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Line> lines_;  ///< a line without cells is a rule
};

}  // namespace parajoule::cli
