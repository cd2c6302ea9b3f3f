#pragma once

// A report before it is written down: sections of sentences, tables and figures. HTML, Markdown and
// CSV are made of the same.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "report/derived.h"

namespace parajoule::report {

/// A column may have a spread (half of a 95 % interval) beside its values.
struct Column {
  std::string heading;
  std::string csv;  ///< its name in the CSV, with the unit
  bool spread = false;
};

struct Cell {
  std::string text = {};
  std::string spread = {};
  std::string link = {};    ///< an anchor of the page, without #
  std::string anchor = {};  ///< what such a link leads to
};

struct Table {
  std::string id;  ///< the name of its CSV and its anchor
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows = {};
  std::vector<std::string> notes = {};
};

struct Mark {
  double x;
  double y;
  double half_width = 0;  ///< of y
};

struct Curve {
  std::string name;
  std::vector<Mark> marks;
  bool line = false;  ///< a line without marks, else marks with error bars
};

struct Figure {
  std::string id;
  std::string title;
  std::string x;
  std::string y;
  bool log_x = false;
  bool log_y = false;
  std::vector<Curve> curves = {};
  std::string note = {};
  std::string svg = {};  ///< filled when it has been drawn
};

struct Paragraph {
  std::string text;
};

struct Section {
  std::string id;
  std::string title;  ///< the question it answers
  std::vector<std::variant<Paragraph, Table, Figure>> parts = {};

  void say(std::string text) { parts.emplace_back(Paragraph{std::move(text)}); }
};

struct Page {
  std::string title;
  std::vector<std::string> supported = {};      ///< what the runs support, a sentence each
  std::vector<std::string> not_supported = {};  ///< what they do not
  std::vector<Section> sections = {};
};

/// A dash where there is nothing.
Cell cell_of(const std::optional<Derived>& number);
/// The same with all digits that the rounding of the input allows, whatever the repeats scatter.
Cell fine_cell_of(const std::optional<Derived>& number);
Cell cell_of(double value, double half_unit = 0);
Cell cell_of(const std::optional<double>& count);

/// The number of repeats, with a dagger if it is one.
Cell repeats_cell(const Point& point);

/// The anchor of the list of what stands behind a point.
std::string anchor_of(const Point& point);

/// "256 × 32" of devices and local batch.
std::string name_of(const Point& point);

/// A count with spaces between thousands.
std::string count_text(double count);

}  // namespace parajoule::report
