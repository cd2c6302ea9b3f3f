#include "cli/standard_streams.h"

#include <iostream>

#include <fcntl.h>
#include <unistd.h>

#include "cli/exit_status.h"

namespace parajoule::cli {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool open_already = fcntl(stream, F_GETFD) != -1;
    if (open_already) continue;
    // The lowest free number is the stream's own. Programs that we start get it closed again.
    open("/dev/null", (stream == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
  }
}

int with_output_written(int status) {
  std::cout << std::flush;
  if (status != done || std::cout) return status;
  std::cerr << "parajoule: standard output takes no more: no space left where it leads?\n";
  return no_environment;
}

}  // namespace parajoule::cli
