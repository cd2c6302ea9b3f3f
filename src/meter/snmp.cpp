#include "meter/snmp.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "meter/shared_library.h"

namespace parajoule::meter {

namespace {

// Of net-snmp/library/default_store.h and snmp_logging.h, the same in 5.7 to 5.9.
constexpr int library_store = 0;
constexpr int dont_read_configurations = 6;
constexpr int quick_print = 13;
constexpr int dont_load_persistent = 35;
constexpr int dont_save_persistent = 36;
constexpr int mib_folders = 11;
constexpr int no_log = 6;
constexpr int every_severity = 7;
constexpr unsigned char null_type = 5;

/// Of version 5.9 a session takes about 500 bytes.
constexpr std::size_t session_bytes = 16'384;

/// The library has one state for all sessions.
std::mutex library_mutex;

struct Session;
struct Variable;
using Number = unsigned long;

struct Functions {
  int (*set_boolean)(int store, int which, int value);
  int (*set_string)(int store, int which, const char* value);
  void* (*log_to)(int handler, int severity);
  int (*parse_arguments)(int count, char** words, void* session, const char* options,
                         void (*other)(int, char* const*, int));
  Session* (*open)(void* session);
  int (*close)(Session* session);
  Variable* (*add_variable)(Variable** list, const Number* name, std::size_t length,
                            unsigned char type, const void* value, std::size_t size);
  int (*ask)(Variable* list, Session* session);
  int (*write_value)(char* text, std::size_t size, const Number* name, std::size_t length,
                     const Variable* variable);
  void (*free_list)(Variable* list);
};

/// The first function that is missing; empty if all are there.
std::string find_all(const SharedLibrary& library, Functions& functions) {
  std::string missing;
  const auto find = [&](auto*& function, const char* name) {
    function =
        library.symbol<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(name);
    if (!function && missing.empty()) missing = fmt::format("{} is missing", name);
  };
  find(functions.set_boolean, "netsnmp_ds_set_boolean");
  find(functions.set_string, "netsnmp_ds_set_string");
  find(functions.log_to, "netsnmp_register_loghandler");
  find(functions.parse_arguments, "snmp_parse_args");
  find(functions.open, "snmp_open");
  find(functions.close, "snmp_close");
  find(functions.add_variable, "snmp_varlist_add_variable");
  find(functions.ask, "netsnmp_query_get");
  find(functions.write_value, "snprint_value");
  find(functions.free_list, "snmp_free_varbind");
  return missing;
}

/// As the words of snmpget. The library overwrites those that are secret.
std::vector<std::string> words_of(const std::string& address, const SnmpAccess& access) {
  std::vector<std::string> words = {"parajoule", "-t", "1", "-r", "0"};
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  if (!access.community.empty()) {
    add({"-v", "2c", "-c", access.community});
  } else {
    const std::string& privacy =
        access.privacy_password.empty() ? access.password : access.privacy_password;
    add({"-v", "3", "-l", "authPriv", "-u", access.user, "-a", access.authentication});
    add({"-A", access.password, "-x", access.privacy, "-X", privacy});
  }
  words.push_back(address);
  return words;
}

void no_other(int, char* const*, int) {}

class NetSnmp final : public Snmp {
 public:
  NetSnmp(SharedLibrary library, const Functions& functions)
      : library_(std::move(library)), call_(functions) {}

  ~NetSnmp() override {
    const std::lock_guard lock(library_mutex);
    if (session_) call_.close(session_);
  }

  /// Why not; empty if it is open.
  std::string connect(const std::string& address, const SnmpAccess& access) {
    const std::lock_guard lock(library_mutex);
    call_.log_to(no_log, every_severity);
    for (int which :
         {dont_read_configurations, dont_load_persistent, dont_save_persistent, quick_print})
      call_.set_boolean(library_store, which, 1);
    call_.set_string(library_store, mib_folders, "");  // names of objects are not needed
    std::vector<std::string> words = words_of(address, access);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    alignas(std::max_align_t) std::array<char, session_bytes> wanted{};
    const int parsed =
        call_.parse_arguments(int(words.size()), pointers.data(), wanted.data(), "", no_other);
    if (parsed < 0) return "the library does not know this way to log in";
    session_ = call_.open(wanted.data());
    return session_ ? "" : fmt::format("no way to '{}'", address);
  }

  std::variant<double, std::string> get(const std::vector<unsigned long>& object) override {
    const std::lock_guard lock(library_mutex);
    Variable* list = nullptr;
    if (!call_.add_variable(&list, object.data(), object.size(), null_type, nullptr, 0))
      return "no memory for a question";
    const int failed = call_.ask(list, session_);
    std::array<char, 256> text{};
    if (failed == 0)
      call_.write_value(text.data(), text.size(), object.data(), object.size(), list);
    call_.free_list(list);
    if (failed != 0) return fmt::format("does not answer over SNMP (code {})", failed);
    return snmp_number(text.data());
  }

 private:
  SharedLibrary library_;
  Functions call_;
  Session* session_ = nullptr;
};

}  // namespace

std::vector<unsigned long> snmp_object(std::string_view dotted) {
  constexpr std::size_t longest = 128;  // RFC 2578
  if (dotted.starts_with('.')) dotted.remove_prefix(1);
  std::vector<unsigned long> numbers;
  const char* at = dotted.data();
  const char* const end = at + dotted.size();
  while (numbers.size() < longest) {
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    if (rest == end) return numbers.size() < 2 ? std::vector<unsigned long>() : numbers;
    if (*rest != '.') return {};
    at = rest + 1;
  }
  return {};
}

std::variant<double, std::string> snmp_number(std::string_view written) {
  std::string_view text = written;
  if (text.size() >= 2 && text.starts_with('"') && text.ends_with('"'))
    text = text.substr(1, text.size() - 2);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && rest == text.data() + text.size() && std::isfinite(number))
    return number;
  return written.empty() ? std::string("an empty value") : std::string(written);
}

std::variant<std::unique_ptr<Snmp>, std::string> Snmp::open(const std::string& library,
                                                            const std::string& address,
                                                            const SnmpAccess& access) {
  const std::string names[] = {library, "libnetsnmp.so.40", "libnetsnmp.so.35"};
  auto opened =
      SharedLibrary::open(std::span(names).first(library.find('/') == library.npos ? 3 : 1));
  if (auto* why = std::get_if<std::string>(&opened)) return std::move(*why);
  Functions functions{};
  const std::string missing = find_all(std::get<SharedLibrary>(opened), functions);
  if (!missing.empty()) return missing;
  auto device = std::make_unique<NetSnmp>(std::move(std::get<SharedLibrary>(opened)), functions);
  std::string why = device->connect(address, access);
  if (!why.empty()) return why;
  return device;
}

}  // namespace parajoule::meter
