#include "cli/responder.h"

#include <thread>

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
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
  const int client = connected(responder);
  std::thread server([&] { responder.answer(); });
  for (const std::string_view piece : {"GET /met", "rics HTTP/1.1\r\n", "Host: x\r\n\r\n"})
    ASSERT_EQ(::send(client, piece.data(), piece.size(), 0), ssize_t(piece.size()));
  const std::string answer = all_from(client);
  server.join();
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_TRUE(answer.ends_with(large));
}

TEST(Responder, WhoLeavesOrSaysTooMuchHoldsNobodyUp) {
  Responder responder({"127.0.0.1", 0}, page);
  ::close(connected(responder));
  responder.answer();
  const int talker = connected(responder);
  const std::string much(20'000, 'a');
  ASSERT_EQ(::send(talker, much.data(), much.size(), 0), ssize_t(much.size()));
  responder.answer();
  ::close(talker);
  const int client = connected(responder);
  const std::string_view request = "GET /metrics HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(client, request.data(), request.size(), 0), ssize_t(request.size()));
  responder.answer();
  EXPECT_THAT(all_from(client), testing::EndsWith("the page\n"));
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
