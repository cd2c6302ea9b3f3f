#include "cli/responder.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest{2};  // for a request, and for taking its answer
constexpr std::size_t most_bytes = 8192;
constexpr std::size_t most_clients = 128;

std::string response(std::string_view status, std::string_view body, bool with_body = true) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
      "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
      status, body.size(), with_body ? body : std::string_view());
}

/// Nothing has come, or there is no room; it is not the end of the connection.
bool not_now() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

bool whole(std::string_view request) { return request.find("\r\n\r\n") != request.npos; }

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
  if (!whole(request) && request.size() >= most_bytes)
    return line.size() >= most_bytes
               ? response("414 URI Too Long", "the page is /metrics\n")
               : response("431 Request Header Fields Too Large", "GET /metrics\n");
  if (!whole(request) || first == line.npos || second == line.npos ||
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

/// Somebody who came. First the request is read, then the answer is written, then what is still
/// said is passed over until they leave: a connection that is closed with words unread is reset,
/// and the answer on its way may be lost.
struct Responder::Client {
  int file;
  Clock::time_point until = Clock::now() + longest;
  std::string request = {};
  std::optional<std::string> answer = {};
  std::size_t sent = 0;  ///< bytes of it

  bool answered() const { return answer && sent == answer->size(); }
};

Responder::Responder(const Address& address, std::function<std::string()> page)
    : page_(std::move(page)) {
  listen_at(address);
  ready_ = ::epoll_create1(EPOLL_CLOEXEC);
  wait_for(listening_, EPOLLIN, EPOLL_CTL_ADD);
}

void Responder::listen_at(const Address& address) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  ::getaddrinfo(address.host.c_str(), fmt::format("{}", address.port).c_str(), &hints, &all);
  const std::unique_ptr<addrinfo, FreeAddresses> found(all);
  if (found) listening_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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

Responder::~Responder() {
  for (const auto& [file, client] : clients_) ::close(file);
  ::close(ready_);
  ::close(listening_);
}

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

int Responder::patience() const {
  if (clients_.empty()) return -1;
  const auto first =
      std::ranges::min_element(clients_, {}, [](const auto& entry) { return entry.second.until; });
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(first->second.until - Clock::now());
  return std::max(0, int(left.count()));
}

void Responder::wait_for(int file, std::uint32_t events, int operation) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = file;
  ::epoll_ctl(ready_, operation, file, &event);
}

void Responder::answer() {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(ready_, events.data(), int(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const int file = events[std::size_t(i)].data.fd;
    if (file == listening_) {
      take_newcomers();
      continue;
    }
    const auto client = clients_.find(file);
    if (client == clients_.end() || go_on_with(client->second)) continue;  // or made room
    ::close(file);
    clients_.erase(client);
  }
  let_go_who_is_late();
}

void Responder::take_newcomers() {
  for (std::size_t taken = 0; taken < most_clients; ++taken) {
    if (clients_.size() >= most_clients) make_room();
    const int file = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0 && (errno == EMFILE || errno == ENFILE) && make_room()) continue;
    if (file < 0) return;
    clients_.emplace(file, Client{.file = file});
    wait_for(file, EPOLLIN, EPOLL_CTL_ADD);
  }
}

/// Lets go of the one who has waited longest without a request; of the others, if all have made
/// one. False if nobody is here.
bool Responder::make_room() {
  if (clients_.empty()) return false;
  const auto longest_waiting = std::ranges::min_element(clients_, {}, [](const auto& entry) {
    return std::pair(entry.second.answer.has_value(), entry.second.until);
  });
  ::close(longest_waiting->first);
  clients_.erase(longest_waiting);
  return true;
}

/// False when they are to be let go.
bool Responder::go_on_with(Client& client) {
  if (client.answer && !client.answered()) return go_on_answering(client);
  std::array<char, 4096> buffer;
  const ssize_t length = ::recv(client.file, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (length < 0) return not_now();
  if (client.answered()) return length > 0;
  client.request.append(buffer.data(), std::size_t(length));
  if (length == 0 && client.request.empty()) return false;
  const bool more = length > 0 && client.request.size() < most_bytes && !whole(client.request);
  if (more) return true;
  client.answer = answer_to(client.request, page_);
  client.until = Clock::now() + longest;
  wait_for(client.file, EPOLLOUT, EPOLL_CTL_MOD);
  return go_on_answering(client);
}

bool Responder::go_on_answering(Client& client) {
  const ssize_t length = ::send(client.file, client.answer->data() + client.sent,
                                client.answer->size() - client.sent, MSG_NOSIGNAL);
  if (length < 0) return not_now();
  client.sent += std::size_t(length);
  if (!client.answered()) return true;
  ::shutdown(client.file, SHUT_WR);
  wait_for(client.file, EPOLLIN, EPOLL_CTL_MOD);
  return true;
}

void Responder::let_go_who_is_late() {
  const Clock::time_point now = Clock::now();
  std::erase_if(clients_, [now](const auto& entry) {
    const bool late = entry.second.until <= now;
    if (late) ::close(entry.first);
    return late;
  });
}

}  // namespace parajoule::cli
