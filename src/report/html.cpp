#include "report/html.h"

#include <algorithm>
#include <ostream>

#include <fmt/ostream.h>

#include "store/csv.h"

namespace parajoule::report {
namespace {

// Works from 320 pixels up: figures and tables stand side by side where there is room, wide tables
// scroll inside themselves, and paper gets neither scrolling nor the list of contents.
constexpr std::string_view style = R"(
:root{--ink:#1b1f24;--soft:#57606a;--rule:#d8dee4;--wash:#f6f8fa;--mark:#0b62a8}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1rem;color:var(--ink);background:#fff;
 font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0 1rem}
h2{font-size:1.25rem;line-height:1.3;margin:2.2rem 0 .6rem;padding-top:.6rem;
 border-top:1px solid var(--rule)}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
a{color:var(--mark)}
nav{font-size:.92rem;columns:2;column-gap:2rem;margin:1rem 0}
nav a{display:block;text-decoration:none;padding:.1rem 0;break-inside:avoid}
.verdict{display:grid;grid-template-columns:1fr 1fr;gap:1rem}
.verdict>div{background:var(--wash);border-left:4px solid #1a7f37;padding:.6rem 1rem}
.verdict>div.not{border-color:#bf8700}
.verdict h3{margin:.1rem 0 .3rem}
.verdict ul{margin:.3rem 0;padding-left:1.1rem}
.wide{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .45rem;text-align:right;white-space:nowrap;
 border-bottom:1px solid var(--rule)}
th{vertical-align:bottom;white-space:normal;font-weight:600;border-bottom:2px solid var(--soft)}
th:first-child,td:first-child,td.word{text-align:left}
td.long{white-space:normal;min-width:16rem}
td i{font-style:normal;color:var(--soft)}
.note,figcaption{color:var(--soft);font-size:.86rem;margin:.2rem 0 .6rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));
 gap:1rem;margin:.6rem 0}
figure{margin:0;border:1px solid var(--rule);padding:.6rem;break-inside:avoid}
figure h3{margin:.1rem 0 .4rem}
figure svg{display:block;width:100%;height:auto}
:target{background:#fff8c5}
@media (max-width:40rem){.verdict{grid-template-columns:1fr}nav{columns:1}body{padding:.7rem}}
@media print{nav{display:none}body{max-width:none;font-size:10pt}.wide{overflow:visible}
 table{font-size:7pt}th,td{padding:.15rem .3rem}h2,h3{break-after:avoid}tr{break-inside:avoid}}
)";

void write(const Table& table, std::ostream& out) {
  fmt::print(out, "<h3 id=\"{}\">{}</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<tr>",
             escaped(table.id), escaped(table.title));
  for (const Column& column : table.columns)
    fmt::print(out, "<th>{}</th>", escaped(column.heading));
  out << "</tr>\n";
  for (const auto& row : table.rows) {
    out << "<tr>";
    for (const Cell& cell : row) {
      const bool number = cell.text.find_first_not_of("0123456789+-.†∞ %") == std::string::npos;
      std::string text = escaped(cell.text);
      if (!cell.link.empty())
        text = fmt::format("<a href=\"#{}\">{}</a>", escaped(cell.link), text);
      if (!cell.spread.empty()) text += fmt::format(" <i>± {}</i>", escaped(cell.spread));
      fmt::print(out, "<td{}{}>{}</td>",
                 cell.anchor.empty() ? "" : fmt::format(" id=\"{}\"", escaped(cell.anchor)),
                 number                  ? ""
                 : cell.text.size() > 40 ? " class=\"word long\""
                                         : " class=\"word\"",
                 text);
    }
    out << "</tr>\n";
  }
  out << "</table></div>\n";
  for (const std::string& note : table.notes)
    fmt::print(out, "<p class=\"note\">{}</p>\n", escaped(note));
}

void write(const Figure& figure, std::ostream& out) {
  if (figure.svg.empty()) return;
  fmt::print(out, "<figure id=\"{}\"><h3>{}</h3>\n{}\n<figcaption>{}</figcaption></figure>\n",
             escaped(figure.id), escaped(figure.title), figure.svg, escaped(figure.note));
}

void write(const Paragraph& paragraph, std::ostream& out) {
  fmt::print(out, "<p>{}</p>\n", escaped(paragraph.text));
}

void write(const Section& section, std::ostream& out) {
  fmt::print(out, "<section>\n<h2 id=\"{}\">{}</h2>\n", escaped(section.id),
             escaped(section.title));
  bool among_figures = false;
  for (const auto& part : section.parts) {
    const bool figure = std::holds_alternative<Figure>(part);
    if (figure != among_figures) out << (figure ? "<div class=\"figures\">\n" : "</div>\n");
    among_figures = figure;
    std::visit([&](const auto& one) { write(one, out); }, part);
  }
  if (among_figures) out << "</div>\n";
  out << "</section>\n";
}

void write_list(std::string_view title, const std::vector<std::string>& lines, std::ostream& out,
                std::string_view css) {
  fmt::print(out, "<div{}><h3>{}</h3><ul>\n", css, title);
  for (const std::string& line : lines) fmt::print(out, "<li>{}</li>\n", escaped(line));
  out << "</ul></div>\n";
}

std::string in_markdown(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '|' || letter == '<' || letter == '*' || letter == '_' || letter == '`')
      safe += '\\';
    safe += letter == '\n' ? ' ' : letter;
  }
  return safe;
}

void write_markdown(const Table& table, std::ostream& out) {
  fmt::print(out, "**{}**\n\n|", in_markdown(table.title));
  for (const Column& column : table.columns) fmt::print(out, " {} |", in_markdown(column.heading));
  out << "\n|";
  for (std::size_t column = 0; column < table.columns.size(); ++column) out << "---|";
  out << '\n';
  for (const auto& row : table.rows) {
    out << '|';
    for (const Cell& cell : row)
      fmt::print(out, " {}{}{} |", in_markdown(cell.text), cell.spread.empty() ? "" : " ± ",
                 cell.spread);
    out << '\n';
  }
  out << '\n';
  for (const std::string& note : table.notes) fmt::print(out, "{}\n\n", in_markdown(note));
}

std::string in_csv(std::string text) {
  if (text == "-") return "";
  if (const std::size_t at = text.find(" †"); at != std::string::npos) text.erase(at);
  return store::csv_text(text);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '&')
      safe += "&amp;";
    else if (letter == '<')
      safe += "&lt;";
    else if (letter == '>')
      safe += "&gt;";
    else if (letter == '"')
      safe += "&quot;";
    else
      safe += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return safe;
}

void write_html(const Page& page, std::ostream& out) {
  fmt::print(out,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
             "<title>{0}</title>\n<style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n",
             escaped(page.title), style);
  out << "<div class=\"verdict\">\n";
  write_list("What these runs support", page.supported, out, "");
  write_list("What they do not", page.not_supported, out, " class=\"not\"");
  out << "</div>\n<nav>\n";
  for (const Section& section : page.sections)
    fmt::print(out, "<a href=\"#{}\">{}</a>\n", escaped(section.id), escaped(section.title));
  out << "</nav>\n";
  for (const Section& section : page.sections) write(section, out);
  out << "</body></html>\n";
}

void write_markdown(const Page& page, std::ostream& out) {
  fmt::print(out, "# {}\n\nWhat these runs support:\n\n", in_markdown(page.title));
  for (const std::string& line : page.supported) fmt::print(out, "- {}\n", in_markdown(line));
  out << "\nWhat they do not:\n\n";
  for (const std::string& line : page.not_supported) fmt::print(out, "- {}\n", in_markdown(line));
  for (const Section& section : page.sections) {
    fmt::print(out, "\n## {}\n\n", in_markdown(section.title));
    for (const auto& part : section.parts) {
      if (const auto* said = std::get_if<Paragraph>(&part))
        fmt::print(out, "{}\n\n", in_markdown(said->text));
      else if (const auto* table = std::get_if<Table>(&part))
        write_markdown(*table, out);
      else if (const auto* figure = std::get_if<Figure>(&part); figure && !figure->svg.empty())
        fmt::print(out, "![{}](figures/{}.svg)\n\n", in_markdown(figure->title), figure->id);
    }
  }
}

void write_csv(const Table& table, std::ostream& out) {
  std::string line;
  const auto end_line = [&] {
    line.back() = '\n';
    out << line;
    line.clear();
  };
  for (const Column& column : table.columns) {
    line += in_csv(column.csv) + ',';
    if (column.spread) line += column.csv + "_half_width_95,";
  }
  end_line();
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const Cell cell = i < row.size() ? row[i] : Cell{};
      line += in_csv(cell.text) + ',';
      if (table.columns[i].spread) line += in_csv(cell.spread) + ',';
    }
    end_line();
  }
}

}  // namespace parajoule::report
