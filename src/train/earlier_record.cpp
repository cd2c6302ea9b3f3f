#include "train/earlier_record.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::train {

std::optional<std::string> follow_earlier_record(const std::filesystem::path& run_folder,
                                                 const std::string& id) {
  const std::filesystem::path list = run_folder / "records";
  std::optional<std::string> last;
  {
    std::ifstream file(list);
    for (std::string line; std::getline(file, line);)
      if (!line.empty()) last = line;
  }
  std::ofstream file(list, std::ios::app);
  file << id << '\n' << std::flush;
  if (!file)
    throw base::Error(base::Fault::environment, fmt::format("{}: cannot be written: {}",
                                                            list.string(), std::strerror(errno)));
  return last;
}

}  // namespace parajoule::train
