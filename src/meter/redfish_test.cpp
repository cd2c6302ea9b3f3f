#include "meter/redfish.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "meter/credentials.h"
#include "meter/made_up_redfish.h"
#include "meter/redfish_answer.h"
#include "meter/redfish_controller.h"

namespace parajoule::meter {
namespace {

using base::Joules;
using base::Seconds;
using base::Watts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Wire = MadeUpRedfish::Wire;

/// A server of the older schema: one chassis with `Power`.
std::string older(const std::string& watts) {
  return R"({"/redfish/v1/Chassis":
      {"body": {"Members": [{"@odata.id": "/redfish/v1/Chassis/System.Embedded.1"}]}},
    "/redfish/v1/Chassis/System.Embedded.1":
      {"body": {"Power": {"@odata.id": "/redfish/v1/Chassis/System.Embedded.1/Power"}}},
    "/redfish/v1/Chassis/System.Embedded.1/Power":
      {"body": {"PowerControl": [{"Name": "System Power Control", "PowerConsumedWatts": )" +
         watts + "}, {\"Name\": \"CPU\", \"PowerConsumedWatts\": 90}]}}}";
}

/// One of the newer: a system with sensors' excerpts, and a chassis without power.
const char* const newer = R"({"/redfish/v1/Chassis":
    {"body": {"Members": [{"@odata.id": "/redfish/v1/Chassis/DGX/"},
                          {"@odata.id": "/redfish/v1/Chassis/Fan"}]}},
  "/redfish/v1/Chassis/Fan": {"body": {"Id": "Fan"}},
  "/redfish/v1/Chassis/DGX/":
    {"body": {"EnvironmentMetrics": {"@odata.id": "/redfish/v1/Chassis/DGX/EnvironmentMetrics"},
              "Power": {"@odata.id": "/redfish/v1/Chassis/DGX/Power"}}},
  "/redfish/v1/Chassis/DGX/EnvironmentMetrics":
    {"body": {"PowerWatts": {"Reading": 2210.5, "DataSourceUri": "/redfish/v1/x"},
              "EnergykWh": {"Reading": 1234.5}}}})";

/// What a source says once its server has answered.
Reading first(Source& source) {
  while (!source.ready()) std::this_thread::yield();
  return source.read(Seconds(0));
}

Gap gap(const Reading& reading) {
  EXPECT_TRUE(std::holds_alternative<Gap>(reading));
  return std::get<Gap>(reading);
}

TEST(Redfish, ReadsThePowerOfAServerOverTls) {
  const MadeUpRedfish server(older("344"), Wire::tls);
  const Opened opened = open_redfish(server.options());
  ASSERT_THAT(opened.sources, SizeIs(1)) << opened.unavailable.at(0).reason;
  const Description& power = opened.sources[0]->description();
  EXPECT_EQ(power.device, "node");
  EXPECT_EQ(power.device_kind, "node");
  EXPECT_THAT(power.covers, HasSubstr("chassis System.Embedded.1, Redfish (https://127.0.0.1:"));
  EXPECT_THAT(power.covers, HasSubstr("never seen on real hardware"));
  EXPECT_EQ(std::get<double>(first(*opened.sources[0])), 344);
}

TEST(Redfish, TrustsOnlyTheCertificateItWasGiven) {
  const MadeUpRedfish server(older("344"), Wire::tls);
  Options options = server.options();
  const MadeUpTree elsewhere;
  elsewhere.write("credentials", "user = meter\npassword = secret\n");
  options.redfish->credentials = elsewhere.root() / "credentials";
  std::filesystem::permissions(options.redfish->credentials, std::filesystem::perms(0600));
  const Opened opened = open_redfish(options);
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("certificate"));
}

TEST(Redfish, ReadsPowerAndEnergyOfTheNewerSchema) {
  const MadeUpRedfish server(newer, Wire::open);
  const Opened opened = open_redfish(server.options());
  ASSERT_THAT(opened.sources, SizeIs(2));
  EXPECT_EQ(opened.sources[0]->description().quantity, Quantity::power);
  EXPECT_EQ(opened.sources[1]->description().quantity, Quantity::energy);
  EXPECT_THAT(opened.sources[1]->description().covers, HasSubstr("chassis DGX, "));
  EXPECT_EQ(std::get<double>(first(*opened.sources[0])), 2210.5);
  EXPECT_NEAR(std::get<double>(first(*opened.sources[1])), 1234.5 * 3.6e6, 1e-3);
}

TEST(Redfish, ANumberThatGoesAwayIsAGapAndNever0) {
  for (const char* watts : {"null", "0", "-3", "\"344\"", "{}"}) {
    const MadeUpRedfish server(older("344"), Wire::open);
    const Opened opened = open_redfish(server.options());
    ASSERT_THAT(opened.sources, SizeIs(1));
    server.answers(older(watts));
    EXPECT_EQ(gap(first(*opened.sources[0])).detail, "the answer has no number") << watts;
  }
}

TEST(Redfish, AServerWithoutAPowerHasNone) {
  const MadeUpRedfish server(older("null"), Wire::open);
  const Opened opened = open_redfish(server.options());
  EXPECT_THAT(opened.sources, IsEmpty());
  EXPECT_EQ(opened.unavailable.at(0).state, Unavailable::State::absent);
}

TEST(Redfish, AServerInTroubleIsAGap) {
  const MadeUpRedfish server(older("344"), Wire::open);
  const Opened opened = open_redfish(server.options());
  ASSERT_THAT(opened.sources, SizeIs(1));
  server.answers(R"({"/redfish/v1/Chassis/System.Embedded.1/Power": {"status": 503}})");
  EXPECT_THAT(gap(first(*opened.sources[0])).detail, HasSubstr("HTTP 503"));
}

TEST(Redfish, AnEndlessAnswerAndARedirectionAreRefused) {
  const MadeUpRedfish server(older("344"), Wire::open);
  const auto opened = open_redfish(server.options());
  const std::string power = "/redfish/v1/Chassis/System.Embedded.1/Power";
  server.answers(fmt::format(R"({{"{}": {{"text": "{}"}}}})", power, std::string(2 << 20, 'x')));
  EXPECT_THAT(gap(first(*opened.sources.at(0))).detail, HasSubstr("longer than 1 MiB"));
  const MadeUpRedfish moved(
      R"({"/redfish/v1/Chassis": {"status": 302, "headers": {"Location": "/redfish/v1/x"}}})",
      Wire::open);
  EXPECT_THAT(open_redfish(moved.options()).unavailable.at(0).reason, HasSubstr("HTTP 302"));
}

TEST(Redfish, ARefusedPasswordIsSaidAndNotTriedAgain) {
  const MadeUpRedfish server(older("344"), Wire::open);
  server.credentials("user = meter\npassword = guess\n");
  const Opened opened = open_redfish(server.options());
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("user or password refused (HTTP 401)"));
  EXPECT_EQ(opened.unavailable[0].state, Unavailable::State::unreadable);
}

TEST(Redfish, CredentialsThatOthersMayReadAreRefused) {
  const MadeUpRedfish server(older("344"), Wire::open);
  for (int mode : {0644, 0640, 0604, 0700, 0400}) {
    server.credentials("user = meter\npassword = secret\n", mode);
    const Opened opened = open_redfish(server.options());
    EXPECT_THAT(opened.sources, IsEmpty());
    ASSERT_THAT(opened.unavailable, SizeIs(1));
    EXPECT_THAT(opened.unavailable[0].reason, HasSubstr(fmt::format("mode {:04o}", mode)));
    EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("chmod 600 "));
  }
}

TEST(Redfish, EndsWhileAServerDoesNotAnswer) {
  const MadeUpRedfish server(older("344"), Wire::open);
  Opened opened = open_redfish(server.options());
  server.answers(R"({"/redfish/v1/Chassis/System.Embedded.1/Power": {"hang": true}})");
  ASSERT_THAT(opened.sources, SizeIs(1));
  opened.sources[0]->ready();
  opened.sources.clear();
}

TEST(Redfish, WithoutAServerOrALibraryItIsSaid) {
  Options options;
  {
    const MadeUpRedfish server(older("344"), Wire::open);
    options = server.options();
    options.curl = "/no/such/libcurl.so";
    EXPECT_THAT(open_redfish(options).unavailable.at(0).remedy, HasSubstr("install libcurl"));
    options = server.options();
  }
  const MadeUpTree tree;  // the folder of the server's credentials went with it
  tree.write("credentials", "user = meter\n");
  options.redfish->credentials = tree.root() / "credentials";
  std::filesystem::permissions(options.redfish->credentials, std::filesystem::perms(0600));
  EXPECT_THAT(open_redfish(options).unavailable.at(0).reason, HasSubstr("connect"));
  options.redfish = {};
  EXPECT_THAT(open_redfish(options).unavailable, IsEmpty());
}

TEST(Redfish, SendsPasswordsInTheOpenOnlyToThisMachine) {
  for (const char* good :
       {"https://bmc17", "http://127.0.0.1:8000", "http://localhost/", "http://[::1]"})
    EXPECT_EQ(wrong_address(good), "") << good;
  for (const char* bad :
       {"", "bmc17", "http://bmc17", "http://localhost.evil.org", "ftp://localhost",
        "http://127.0.0.1.evil.org", "http://127.0.0.1@evil.org"})
    EXPECT_NE(wrong_address(bad), "") << bad;
}

TEST(RedfishAnswer, TakesThePowerOfTheWhole) {
  EXPECT_EQ(redfish_power(R"({"PowerControl": [{"PowerConsumedWatts": 344.25}]})"), Watts{344.25});
  EXPECT_EQ(redfish_power(R"({"PowerWatts": {"Reading": 7}})"), Watts{7});
  EXPECT_EQ(redfish_power(R"({"PowerWatts": 7})"), Watts{7});
  for (const char* none : {"", "[]", "3", "{", "{}", R"({"PowerControl": []})",
                           R"({"PowerControl": {"PowerConsumedWatts": 3}})",
                           R"({"PowerControl": [3]})", R"({"PowerWatts": {"Reading": null}})",
                           R"({"PowerWatts": {"Reading": 1e999}})", R"({"PowerWatts": true})"})
    EXPECT_EQ(redfish_power(none), std::nullopt) << none;
  EXPECT_EQ(redfish_energy(R"({"EnergykWh": {"Reading": 2}})"), Joules{7.2e6});
  EXPECT_EQ(redfish_energy(R"({"EnergykWh": {"Reading": -2}})"), std::nullopt);
}

TEST(RedfishAnswer, TakesAddressesOfTheServerItselfOnly) {
  EXPECT_THAT(redfish_members(R"({"Members": [{"@odata.id": "/a"}, {"@odata.id": "//evil.org/b"},
                                              {"@odata.id": "@evil.org"}, {"@odata.id": 3}, 7,
                                              {"@odata.id": "/c d"}, {"@odata.id": "/e"}]})"),
              ElementsAre("/a", "/e"));
  EXPECT_EQ(redfish_link(R"({"Power": {"@odata.id": "/p"}})", "Power"), "/p");
  EXPECT_EQ(redfish_link(R"({"Power": "/p"})", "Power"), std::nullopt);
}

TEST(Credentials, AreLinesOfThreeKinds) {
  const HttpAccess access =
      credentials_in("# of node 17\n\n user=meter \npassword = a = b#c \r\ncertificate = ca.pem",
                     "/etc/meter/bmc");
  EXPECT_EQ(access.user, "meter");
  EXPECT_EQ(access.password, "a = b#c");
  EXPECT_EQ(access.certificate, "/etc/meter/ca.pem");
  EXPECT_EQ(credentials_in("user = x\ncertificate = /a/b.pem", "/c").certificate, "/a/b.pem");
}

TEST(Credentials, NeverShowALineOfTheFile) {
  for (const char* text : {"hunter2", "user = x\npasword = hunter2", "password hunter2", ""}) {
    try {
      credentials_in(text, "bmc");
      ADD_FAILURE() << text;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("bmc: "));
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace parajoule::meter
