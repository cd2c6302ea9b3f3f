#pragma once

// A library that is loaded when the program runs, if the machine has it.

#include <span>
#include <string>
#include <variant>

namespace parajoule::meter {

class SharedLibrary {
 public:
  /// The first of these names that can be loaded; else why the first one cannot.
  static std::variant<SharedLibrary, std::string> open(std::span<const std::string> names);
  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary();

  /// Calls a function of the library that gives an int; none if there is none of this name.
  template <class... Arguments>
  std::variant<int, std::string> call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(find(name));
    if (!function) return std::string(name) + " is missing";
    return function(arguments...);
  }

  /// A function or a value of the library; null if there is none of this name.
  template <class Symbol>
  Symbol* symbol(const char* name) const {
    return reinterpret_cast<Symbol*>(find(name));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* find(const char* name) const;

  void* handle_;
};

}  // namespace parajoule::meter
