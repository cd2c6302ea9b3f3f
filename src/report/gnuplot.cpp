#include "report/gnuplot.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

extern char** environ;

namespace parajoule::report {
namespace {

// Okabe and Ito's colours, which the colour-blind can tell apart, and marks that print can.
constexpr const char* colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                   "#56B4E9", "#E69F00", "#000000"};
constexpr int marks[] = {7, 5, 9, 13, 11, 6, 4};

std::string in_quotes(std::string_view text) {
  std::string safe = "'";
  for (const char letter : text) {
    if (letter == '\'') safe += '\'';
    safe += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return safe + "'";
}

bool drawn(const Figure& figure, const Mark& mark) {
  return std::isfinite(mark.x) && std::isfinite(mark.y) && (!figure.log_x || mark.x > 0) &&
         (!figure.log_y || mark.y > 0);
}

/// Of an axis, with a margin: left to itself, gnuplot goes on to the next power of ten.
std::string range(char axis, double least, double most, bool logarithmic) {
  if (!(least <= most)) return {};
  if (logarithmic) {
    const double margin = std::pow(most / least, 0.05) * 1.1;
    return fmt::format("set {}range [{:.6g}:{:.6g}]\n", axis, least / margin, most * margin);
  }
  const double margin = most > least ? 0.06 * (most - least) : std::fabs(most) * 0.1 + 0.1;
  return fmt::format("set {}range [{:.6g}:{:.6g}]\n", axis, least - margin, most + margin);
}

std::string ranges_of(const Figure& figure) {
  constexpr double none = std::numeric_limits<double>::infinity();
  double left = none, right = -none, low = none, high = -none;
  for (const Curve& curve : figure.curves)
    for (const Mark& mark : curve.marks) {
      if (!drawn(figure, mark)) continue;
      left = std::min(left, mark.x);
      right = std::max(right, mark.x);
      const double foot = mark.y - mark.half_width;
      low = std::min(low, figure.log_y && foot <= 0 ? mark.y : foot);
      high = std::max(high, mark.y + mark.half_width);
    }
  return range('x', left, right, figure.log_x) + range('y', low, high, figure.log_y);
}

bool has_marks(const Figure& figure) {
  for (const Curve& curve : figure.curves)
    for (const Mark& mark : curve.marks)
      if (drawn(figure, mark)) return true;
  return false;
}

std::filesystem::path written(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out)
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot write '{}': {}", file.string(), std::strerror(errno)));
  return file;
}

/// Runs gnuplot over a script; what it said goes into `said`. Gives its status, or 127.
int run_gnuplot(const std::string& script, const std::string& said) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, said.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::string program = "gnuplot", plain = "-d", file = script;
  char* words[] = {program.data(), plain.data(), file.data(), nullptr};
  pid_t child = 0;
  const int failed = posix_spawnp(&child, "gnuplot", &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// The picture alone, without what only a file of its own begins with.
std::string inside_html(const std::string& svg) {
  const std::size_t at = svg.find("<svg");
  return at == std::string::npos ? "" : svg.substr(at);
}

}  // namespace

std::string script_of(const Figure& figure, const std::string& terminal, const std::string& file) {
  std::string text =
      fmt::format("reset\nset terminal {}\nset output {}\n", terminal, in_quotes(file));
  text +=
      "set encoding utf8\nset key above left vertical maxcols 1 reverse Left samplen 2\n"
      "set grid lc rgb '#e4e8ec' lw 1 lt 1\nset border 3 lc rgb '#57606a'\n"
      "set tics nomirror\n";
  text += fmt::format("set xlabel {}\nset ylabel {}\n", in_quotes(figure.x), in_quotes(figure.y));
  if (figure.log_x) text += "set logscale x\n";
  if (figure.log_y) text += "set logscale y\n";
  text += ranges_of(figure);
  std::string plots;
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    const Curve& curve = figure.curves[i];
    std::string rows;
    for (const Mark& mark : curve.marks)
      if (drawn(figure, mark))
        rows += fmt::format("{:.9g} {:.9g} {:.9g}\n", mark.x, mark.y, mark.half_width);
    if (rows.empty()) continue;
    text += fmt::format("$c{} << EOD\n{}EOD\n", i, rows);
    const char* colour = colours[i % std::size(colours)];
    plots +=
        fmt::format("{} $c{} using 1:2{} title {} with {} lc rgb '{}'",
                    plots.empty() ? "plot" : ",", i, curve.line ? "" : ":3", in_quotes(curve.name),
                    curve.line ? "lines lw 1.5 dt 2" : "yerrorbars lw 1.3", colour);
    if (!curve.line) plots += fmt::format(" pt {} ps 0.8", marks[i % std::size(marks)]);
  }
  return text + plots + "\nunset output\n";
}

std::string draw(std::span<Figure* const> figures, const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed)
    throw base::Error(base::Fault::environment, fmt::format("cannot make the folder '{}': {}",
                                                            folder.string(), failed.message()));
  std::string script;
  for (const Figure* figure : figures) {
    if (!has_marks(*figure)) continue;
    const std::string place = (folder / figure->id).string();
    std::string name = figure->id;  // what makes the ids inside of one picture its own
    std::ranges::replace(name, '-', '_');
    script += script_of(*figure,
                        fmt::format("svg size 480,400 dynamic noenhanced font 'sans-serif,13' "
                                    "background '#ffffff' name '{}'",
                                    name),
                        place + ".svg");
    script += script_of(*figure, "pngcairo size 1440,1200 noenhanced font 'sans,26' lw 2.5 ps 2.5",
                        place + ".png");
  }
  if (script.empty()) return {};
  const auto commands = written(folder / "figures.gnuplot", script);
  const auto said = folder / "gnuplot.said";
  const int status = run_gnuplot(commands.string(), said.string());
  std::string words = text_of(said);
  std::filesystem::remove(said, failed);
  if (status == 127)
    return "figures are left out: gnuplot is not installed (Debian: apt-get install gnuplot-nox)";
  for (Figure* figure : figures) figure->svg = inside_html(text_of(folder / (figure->id + ".svg")));
  if (status == 0) return {};
  for (char& letter : words)
    if (static_cast<unsigned char>(letter) < 0x20) letter = ' ';
  return fmt::format("figures are left out: gnuplot says: {}", words.substr(0, 300));
}

}  // namespace parajoule::report
