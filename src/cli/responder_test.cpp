#include "cli/responder.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string page() { return "the page\n"; }

TEST(Responder, AnswersGetAndHeadOfOnePageAlone) {
  const auto answer = [](std::string_view request) { return answer_to(request, page); };
  EXPECT_THAT(answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(answer("GET /metrics?a=b HTTP/1.0\r\n\r\n"), testing::EndsWith("\r\n\r\nthe page\n"));
  const std::string head = answer("HEAD /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(head, testing::EndsWith("\r\n\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_THAT(answer("GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer("GET /metrics/../etc/passwd HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer("POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  for (const char* broken : {"", "GET", "GET /metrics", "GET /metrics HTTP/1.1\r\n", "\r\n\r\n",
                             "GET /metrics FTP\r\n\r\n", " \r\n\r\n"})
    EXPECT_THAT(answer(broken), StartsWith("HTTP/1.1 400")) << broken;
}

TEST(Responder, UnderstandsAddressesAndRefusesNames) {
  EXPECT_EQ(address_in("127.0.0.1:9109").host, "127.0.0.1");
  EXPECT_EQ(address_in("127.0.0.1:9109").port, 9109);
  EXPECT_EQ(address_in("[::1]:80").host, "::1");
  EXPECT_EQ(address_in("localhost:1").host, "127.0.0.1");
  EXPECT_EQ(address_in("0.0.0.0:0").port, 0);
  for (const char* wrong : {"", "9109", ":9109", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:x",
                            "127.0.0.1:-1", "example.org:80", "1.2.3:80:"})
    EXPECT_THROW(address_in(wrong), base::Error) << wrong;
}

/// A connection to where a responder listens.
int connected(const Responder& responder) {
  const std::string where = responder.where();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(std::uint16_t(std::stoi(where.substr(where.rfind(':') + 1))));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return client;
}

void send_to(int client, std::string_view text) {
  ASSERT_EQ(::send(client, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
}

constexpr std::string_view scrape = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

/// Answers in a thread of its own, as `parajoule serve` does.
class Serving {
 public:
  explicit Serving(Responder& responder)
      : thread_([&responder, this] {
          while (!stop_) {
            pollfd waited{.fd = responder.file(), .events = POLLIN, .revents = 0};
            ::poll(&waited, 1, 1);
            responder.answer();
          }
        }) {}
  ~Serving() {
    stop_ = true;
    thread_.join();
  }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

std::string all_from(int client) {
  std::string text;
  char buffer[4096];
  for (ssize_t length; (length = ::recv(client, buffer, sizeof buffer, 0)) > 0;)
    text.append(buffer, std::size_t(length));
  ::close(client);
  return text;
}

TEST(Responder, ServesOverASocketInPieces) {
  const std::string large(300'000, 'x');
  Responder responder({"127.0.0.1", 0}, [&] { return large; });
  EXPECT_THAT(responder.where(), StartsWith("127.0.0.1:"));
  const Serving serving(responder);
  const int client = connected(responder);
  for (const std::string_view piece : {"GET /met", "rics HTTP/1.1\r\n", "Host: x\r\n\r\n"})
    send_to(client, piece);
  const std::string answer = all_from(client);
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(answer.ends_with(large));
}

TEST(Responder, WhoLeavesOrSaysTooMuchHoldsNobodyUp) {
  Responder responder({"127.0.0.1", 0}, page);
  const Serving serving(responder);
  ::close(connected(responder));
  const int talker = connected(responder);
  send_to(talker, std::string(2'000'000, 'a'));
  EXPECT_THAT(all_from(talker), StartsWith("HTTP/1.1 414 ")) << "answered, and not reset";
  const int explainer = connected(responder);
  send_to(explainer, "GET /metrics HTTP/1.1\r\nX-Long: " + std::string(200'000, 'a'));
  EXPECT_THAT(all_from(explainer), StartsWith("HTTP/1.1 431 "));
  const int client = connected(responder);
  send_to(client, scrape);
  EXPECT_THAT(all_from(client), testing::EndsWith("the page\n"));
}

TEST(Responder, NobodyWaitsForThoseWhoSayNothingOrTakeNothing) {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::atomic<bool> large = true;
  Responder responder({"127.0.0.1", 0},
                      [&] { return large ? std::string(50'000'000, 'x') : page(); });
  const Serving serving(responder);
  const int lazy = connected(responder);
  send_to(lazy, scrape);
  char first = 0;
  ASSERT_EQ(::recv(lazy, &first, 1, 0), 1) << "its answer is under way";
  large = false;
  std::vector<int> idle;
  for (int i = 0; i < 1000; ++i) idle.push_back(connected(responder));
  const int half = connected(responder);
  send_to(half, "GET /metr");
  for (int i = 0; i < 3; ++i) {
    const int client = connected(responder);
    send_to(client, scrape);
    EXPECT_THAT(all_from(client), testing::EndsWith("the page\n"));
  }
  for (const int client : idle) ::close(client);
  ::close(half);
  ::close(lazy);
}

TEST(Responder, WhoIsSlowIsLetGoAndNobodyIsWaitedForWithoutClients) {
  Responder responder({"127.0.0.1", 0}, page);
  EXPECT_EQ(responder.patience(), -1);
  const int client = connected(responder);
  while (responder.patience() < 0) responder.answer();
  const int patience = responder.patience();
  EXPECT_GT(patience, 0);
  EXPECT_LE(patience, 2000);
  const Serving serving(responder);
  EXPECT_EQ(all_from(client), "");
}

TEST(Responder, APlaceThatIsTakenIsNamed) {
  const Responder first({"127.0.0.1", 0}, page);
  const Address taken = address_in(first.where());
  try {
    const Responder second(taken, page);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), HasSubstr("--listen"));
  }
}

}  // namespace
}  // namespace parajoule::cli
