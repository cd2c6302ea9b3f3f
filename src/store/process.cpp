#include "store/process.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

namespace parajoule::store {
namespace {

std::string number_space() {
  std::error_code failed;
  return std::filesystem::read_symlink("/proc/self/ns/pid", failed).string();
}

// Field 22 of /proc/PID/stat (proc(5)): when the process began, in clock ticks since the machine
// did. The second field is a name in brackets that may hold anything.
std::string began(std::int64_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string stat;
  std::getline(file, stat, '\0');
  const auto name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(stat.substr(name_end + 1));
  std::string field;
  for (int place = 3; place <= 22; ++place) rest >> field;
  return rest ? field : std::string();
}

std::string named(std::int64_t process) {
  return fmt::format("{}/{}/{}/{}", boot_id(), number_space(), process, began(process));
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

std::string this_process() { return named(getpid()); }

Life life_of(std::string_view process) {
  const std::string here = fmt::format("{}/{}/", boot_id(), number_space());
  if (!process.starts_with(here)) return Life::elsewhere;
  const std::string number(
      process.substr(here.size(), process.find('/', here.size()) - here.size()));
  if (number.empty() || number.size() > 9 || number.find_first_not_of("0123456789") != number.npos)
    return Life::elsewhere;
  return named(std::stoll(number)) == process ? Life::alive : Life::gone;
}

}  // namespace parajoule::store
