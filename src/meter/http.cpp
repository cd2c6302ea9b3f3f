#include "meter/http.h"

#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace parajoule::meter {

using base::Seconds;

namespace {

// Of curl.h; the numbers are part of the library's binary interface (libcurl.so.4, since 2006).
using Handle = void*;
enum Option : int {
  option_write_data = 10001,
  option_url = 10002,
  option_proxy = 10004,
  option_no_progress = 43,
  option_certificates = 10065,
  option_no_signal = 99,
  option_authentication = 107,
  option_timeout = 155,
  option_connect_timeout = 156,
  option_user = 10173,
  option_password = 10174,
  option_protocols = 181,
  option_write_function = 20011,
  option_progress_function = 20219,
  option_progress_data = 10057,
};
constexpr int info_status = 0x200002;
constexpr long basic_authentication = 1;
constexpr long http_and_https = 1 | 2;
constexpr long global_all = 3;
constexpr std::size_t most_bytes = 1 << 20;

using Written = std::size_t (*)(char*, std::size_t, std::size_t, void*);
using Progressed = int (*)(void*, long long, long long, long long, long long);

std::size_t take(char* bytes, std::size_t size, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + size * count > most_bytes) return 0;  // the library gives up
  text.append(bytes, size * count);
  return size * count;
}

int look(void* stopped, long long, long long, long long, long long) {
  return (*static_cast<const std::function<bool()>*>(stopped))() ? 1 : 0;
}

/// The functions of the library that are used.
struct Library {
  int (*global_init)(long);
  Handle (*init)();
  int (*set)(Handle, int, ...);
  int (*perform)(Handle);
  int (*info)(Handle, int, ...);
  void (*cleanup)(Handle);
  const char* (*words)(int);

  bool find(void* handle) {
    return find(handle, global_init, "curl_global_init") && find(handle, init, "curl_easy_init") &&
           find(handle, set, "curl_easy_setopt") && find(handle, perform, "curl_easy_perform") &&
           find(handle, info, "curl_easy_getinfo") && find(handle, cleanup, "curl_easy_cleanup") &&
           find(handle, words, "curl_easy_strerror");
  }

  template <class Function>
  static bool find(void* handle, Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
    return function != nullptr;
  }
};

class Curl final : public Http {
 public:
  Curl(const Library& library, Handle handle, HttpAccess access)
      : library_(library), handle_(handle), access_(std::move(access)) {
    set(option_no_signal, 1L);
    set(option_no_progress, 0L);
    set(option_proxy, "");
    set(option_protocols, http_and_https);
    set(option_write_function, Written(take));
    set(option_progress_function, Progressed(look));
    if (!access_.user.empty()) {
      set(option_authentication, basic_authentication);
      set(option_user, access_.user.c_str());
      set(option_password, access_.password.c_str());
    }
    if (access_.certificate) set(option_certificates, access_.certificate->c_str());
  }
  ~Curl() override { library_.cleanup(handle_); }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  std::variant<HttpAnswer, std::string> get(const std::string& address, Seconds patience,
                                            const std::function<bool()>& stopped) override {
    HttpAnswer answer{0, {}};
    const long milliseconds = long(patience.count() * 1e3);
    set(option_url, address.c_str());
    set(option_timeout, milliseconds);
    set(option_connect_timeout, milliseconds);
    set(option_write_data, static_cast<void*>(&answer.body));
    set(option_progress_data, static_cast<const void*>(&stopped));
    if (const int code = library_.perform(handle_))
      return answer.body.size() * 2 > most_bytes
                 ? std::string("the answer is longer than 1 MiB")
                 : fmt::format("{} (curl {})", library_.words(code), code);
    library_.info(handle_, info_status, &answer.status);
    return answer;
  }

 private:
  template <class Value>
  void set(int option, Value value) {
    library_.set(handle_, option, value);
  }

  Library library_;
  Handle handle_;
  HttpAccess access_;
};

}  // namespace

std::variant<std::unique_ptr<Http>, std::string> Http::open(const std::string& name,
                                                            HttpAccess access) {
  // It keeps threads' and TLS's state of its own: it stays loaded.
  void* loaded = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!loaded) {
    const char* why = ::dlerror();
    return std::string(why ? why : "cannot be loaded");
  }
  Library library{};
  if (!library.find(loaded)) return name + " is no libcurl";
  if (library.global_init(global_all) != 0) return name + " does not initialise";
  Handle handle = library.init();
  if (!handle) return name + " gives no handle";
  return std::make_unique<Curl>(library, handle, std::move(access));
}

}  // namespace parajoule::meter
