#include "cli/responder.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_request{2};
constexpr std::size_t most_bytes = 8192;

std::string response(std::string_view status, std::string_view body, bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), with_body ? body : std::string_view());
}

bool ready(int file, short events, Clock::time_point until) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd waited{.fd = file, .events = events, .revents = 0};
  return left > 0 && ::poll(&waited, 1, int(left)) > 0;
}

/// Up to the empty line; what has come by then.
std::string request_of(int client, Clock::time_point until) {
  std::string text;
  std::array<char, 1024> buffer;
  while (text.size() < most_bytes && text.find("\r\n\r\n") == text.npos &&
         ready(client, POLLIN, until)) {
    const ssize_t length = ::recv(client, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length <= 0) break;
    text.append(buffer.data(), std::size_t(length));
  }
  return text;
}

void send_all(int client, std::string_view text, Clock::time_point until) {
  while (!text.empty() && ready(client, POLLOUT, until)) {
    const ssize_t length = ::send(client, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (length < 0) return;
    text.remove_prefix(std::size_t(length));
  }
}

base::Error no_address(std::string_view text) {
  return {base::Fault::usage,
          fmt::format("'{}' is no address to listen at; for example 127.0.0.1:9109", text)};
}

struct FreeAddresses {
  void operator()(addrinfo* found) const { ::freeaddrinfo(found); }
};

}  // namespace

Address address_in(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == text.npos) throw no_address(text);
  std::string host(text.substr(0, colon));
  const std::string_view digits = text.substr(colon + 1);
  Address address{};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size()) throw no_address(text);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : host;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  // Names would have to be asked for, and may mean more than one address.
  if (host.empty() || ::getaddrinfo(address.host.c_str(), nullptr, &hints, &found) != 0)
    throw no_address(text);
  ::freeaddrinfo(found);
  return address;
}

std::string answer_to(std::string_view request, const std::function<std::string()>& page) {
  const std::string_view line = request.substr(0, request.find("\r\n"));
  const std::size_t first = line.find(' ');
  const std::size_t second = line.find(' ', first + 1);
  const bool whole = request.find("\r\n\r\n") != request.npos;
  if (!whole || first == line.npos || second == line.npos ||
      !line.substr(second + 1).starts_with("HTTP/1."))
    return response("400 Bad Request", "no request that is understood here\n");
  const std::string_view method = line.substr(0, first);
  if (method != "GET" && method != "HEAD")
    return response("405 Method Not Allowed", "GET /metrics\n");
  std::string_view path = line.substr(first + 1, second - first - 1);
  path = path.substr(0, path.find('?'));
  if (path != "/metrics") return response("404 Not Found", "the page is /metrics\n");
  return response("200 OK", page(), method == "GET");
}

Responder::Responder(const Address& address, std::function<std::string()> page)
    : page_(std::move(page)) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  ::getaddrinfo(address.host.c_str(), fmt::format("{}", address.port).c_str(), &hints, &all);
  const std::unique_ptr<addrinfo, FreeAddresses> found(all);
  if (found) listening_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  const bool listens = listening_ >= 0 &&
                       ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                       ::bind(listening_, found->ai_addr, found->ai_addrlen) == 0 &&
                       ::listen(listening_, SOMAXCONN) == 0;
  if (listens) return;
  const std::string why = std::strerror(errno);
  if (listening_ >= 0) ::close(listening_);
  throw base::Error(base::Fault::environment,
                    fmt::format("cannot listen at {}:{}: {}; choose another with --listen",
                                address.host, address.port, why));
}

Responder::~Responder() { ::close(listening_); }

std::string Responder::where() const {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  std::array<char, 128> host{};
  std::array<char, 16> port{};
  ::getsockname(listening_, reinterpret_cast<sockaddr*>(&own), &length);
  ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, host.data(), host.size(), port.data(),
                port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  const bool long_form = own.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", long_form ? "[" : "", host.data(), long_form ? "]" : "",
                     port.data());
}

void Responder::answer() {
  const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  const auto until = Clock::now() + longest_request;
  send_all(client, answer_to(request_of(client, until), page_), until);
  ::close(client);
}

}  // namespace parajoule::cli
