#include "meter/shared_library.h"

#include <utility>

#include <dlfcn.h>

namespace parajoule::meter {

std::variant<SharedLibrary, std::string> SharedLibrary::open(std::span<const std::string> names) {
  std::string why;
  for (const std::string& name : names) {
    // Unloading a driver's library is asking for trouble, so it stays.
    void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle) return SharedLibrary(handle);
    const char* words = ::dlerror();
    if (why.empty()) why = words ? words : name + " cannot be loaded";
  }
  return why;
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedLibrary::~SharedLibrary() {
  if (handle_) ::dlclose(handle_);
}

void* SharedLibrary::find(const char* name) const { return ::dlsym(handle_, name); }

}  // namespace parajoule::meter
