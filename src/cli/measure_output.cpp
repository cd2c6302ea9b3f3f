#include "cli/measure_output.h"

#include <cerrno>
#include <functional>

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
#include "cli/output_file.h"
#include "cli/prometheus.h"
#include "cli/runs.h"
#include "cli/summary.h"
#include "cli/told.h"
#include "cli/write_all.h"
#include "measure/account.h"

namespace parajoule::cli {
namespace {

std::size_t width_of(int file) {
  winsize size{};
  if (ioctl(file, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return most_columns;
  return std::min<std::size_t>(size.ws_col, most_columns);
}

}  // namespace

void append_rows(const std::string& name, const measure::Account& account) {
  OutputFile output(name, O_APPEND);
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
