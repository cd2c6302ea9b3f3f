#include "cli/cause.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <new>
#include <string_view>

#include <fmt/format.h>

#include "cli/exit_status.h"
#include "cli/one_line.h"

namespace parajoule::cli {
namespace {

/// libtorch's errors are of no type that all who use this know, and end with a stack trace.
Cause of_torch_or_ours(std::string_view what) {
  constexpr std::string_view asked = "you tried to allocate ";
  const std::string text = one_line(
      what.substr(0, std::min(what.find("\nException raised from"), what.find("\nframe #"))));
  const std::size_t bytes = text.find(asked);
  if (bytes == text.npos) return {base::Fault::bug, text};
  const std::size_t begin = bytes + asked.size();
  return {base::Fault::environment,
          fmt::format("out of memory: {} asked for at once; take a smaller model or batch",
                      text.substr(begin, text.find('.', begin) - begin))};
}

}  // namespace

Cause cause_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const base::Error& error) {
    return {error.fault, one_line(error.what())};
  } catch (const std::bad_alloc&) {
    return {base::Fault::environment, "out of memory"};
  } catch (const std::filesystem::filesystem_error& error) {
    // Whatever we did not foresee of a disk is no bug.
    return {base::Fault::environment, one_line(error.what())};
  } catch (const std::exception& error) {
    return of_torch_or_ours(error.what());
  }
}

int tell_failure(const std::exception_ptr& thrown) {
  const Cause cause = cause_of(thrown);
  std::cerr << "parajoule: " << cause.text
            << (cause.fault == base::Fault::bug ? " (a bug of ours)\n" : "\n");
  return status_of(cause.fault);
}

}  // namespace parajoule::cli
