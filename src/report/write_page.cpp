#include "report/write_page.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"
#include "report/gnuplot.h"
#include "report/html.h"

namespace parajoule::report {
namespace {

template <class Write>
void write_file(const std::filesystem::path& file, Write write) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (out) write(out);
  out.flush();
  if (!out)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot write '{}': {}; name another folder with -o",
                                  file.string(), std::strerror(errno)));
}

}  // namespace

std::string write_page(Page& page, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder / "tables", failed);
  if (failed)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot make the folder '{}': {}; name another one with -o",
                                  folder.string(), failed.message()));
  std::vector<Figure*> figures;
  for (Section& section : page.sections)
    for (auto& part : section.parts)
      if (auto* figure = std::get_if<Figure>(&part)) figures.push_back(figure);
  const std::string left_out = draw(figures, folder / "figures");
  if (!left_out.empty())
    page.not_supported.push_back("In this copy of the page, " + left_out + ".");
  for (const Section& section : page.sections)
    for (const auto& part : section.parts)
      if (const auto* table = std::get_if<Table>(&part))
        write_file(folder / "tables" / (table->id + ".csv"),
                   [&](std::ostream& out) { write_csv(*table, out); });
  write_file(folder / "summary.md", [&](std::ostream& out) { write_markdown(page, out); });
  write_file(folder / "index.html", [&](std::ostream& out) { write_html(page, out); });
  return left_out;
}

}  // namespace parajoule::report
