#include "cli/measure_output.h"

#include <cerrno>
#include <cstring>
#include <functional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/energy_text.h"
#include "cli/measure_csv.h"
#include "cli/measure_json.h"
#include "cli/prometheus.h"
#include "cli/runs.h"
#include "cli/summary.h"
#include "cli/told.h"
#include "cli/write_all.h"
#include "measure/account.h"

namespace parajoule::cli {
namespace {

base::Error not_written(std::string_view what, const std::string& why) {
  return {base::Fault::environment, fmt::format("cannot write {}: {}", what, why)};
}

/// An open file that is closed with an eye on errors.
class Output {
 public:
  Output(const std::string& name, int flags)
      : name_(fmt::format("'{}'", name)),
        file_(open(name.c_str(), flags | O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666)) {
    if (file_ < 0) throw not_written(name_, std::strerror(errno));
  }
  ~Output() {
    if (file_ >= 0) close(file_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int file() const { return file_; }

  void write(std::string_view text) {
    if (!write_all(file_, text)) throw not_written(name_, std::strerror(errno));
  }

  void end() {
    const int file = std::exchange(file_, -1);
    if (close(file) != 0) throw not_written(name_, std::strerror(errno));
  }

 private:
  std::string name_;
  int file_;
};

void write_file(const std::string& name, std::string_view text) {
  Output output(name, O_TRUNC);
  output.write(text);
  output.end();
}

std::size_t width_of(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return most_columns;
  return std::min<std::size_t>(size.ws_col, most_columns);
}

}  // namespace

void append_rows(const std::string& name, const measure::Account& account) {
  Output output(name, O_APPEND);
  while (flock(output.file(), LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status {};
  const bool empty = fstat(output.file(), &status) == 0 && status.st_size == 0;
  output.write((empty ? measure_csv_head() : "") + measure_csv_rows(account));
  output.end();
}

std::vector<std::string> tell_measurement(const std::filesystem::path& record,
                                          const MeasureArguments& arguments) {
  std::vector<std::string> troubles;
  const auto attempt = [&](const std::function<void()>& call) {
    try {
      call();
    } catch (const base::Error& error) {
      troubles.emplace_back(error.what());
    }
  };
  attempt([&] {
    const measure::Account account = measure::account_of(store::Reader(record));
    const std::string again = show_command(record, account.run.id, records_folder(""));
    const auto text = [&](Look look, std::size_t columns, Detail detail) {
      return measure_text(account, {arguments.conversions, again, look, columns, detail});
    };
    if (!arguments.output.empty())
      attempt([&] { write_file(arguments.output, text(Look::plain, most_columns, Detail::full)); });
    else if (!arguments.quiet)
      // If it cannot be written there is nobody to tell.
      write_all(STDERR_FILENO,
                text(look_of(STDERR_FILENO), width_of(STDERR_FILENO), Detail::brief));
    if (!arguments.json.empty())
      attempt([&] {
        write_file(arguments.json, measure_json(account, arguments.conversions, record));
      });
    if (!arguments.csv.empty()) attempt([&] { append_rows(arguments.csv, account); });
    if (!arguments.prometheus.empty())
      attempt(
          [&] { write_atomically(arguments.prometheus, prometheus_text(exposed_of(account))); });
    std::vector<meter::NodeAccount> nodes;
    for (const measure::NodeEnergy& node : account.nodes) nodes.push_back(node.command);
    attempt([&] { keep_told(record, nodes); });
  });
  return troubles;
}

}  // namespace parajoule::cli
