#include "cli/other_meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

NamedMeters read(std::string_view text) { return meters_in(text, "/etc/p/meters.toml", "n17"); }

std::string refusal(std::string_view text) {
  try {
    read(text);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "none";
}

TEST(OtherMeters, AreNamedInAFile) {
  const NamedMeters named = read(R"(version = 1
[redfish]
address = "https://{host}-bmc"
credentials = "bmc.secret"
[[outlet]]
name = "A7"
address = "pdu3:161"
credentials = "/secrets/pdu"
power = "1.3.6.1.4.1.1"
power_unit_watts = 10
energy = ".1.3.6.1.4.1.2"
energy_unit_joules = 360_000
accuracy_percent = 1
feeds = 4
[[outlet]]
name = "A8"
address = "https://pdu4/redfish/v1/PowerEquipment/RackPDUs/1/Outlets/A8"
credentials = "pdu4.secret"
[[wall]]
file = "wall-{host}.csv"
)");
  EXPECT_EQ(named.sources.redfish->address, "https://n17-bmc");
  EXPECT_EQ(named.sources.redfish->credentials, "/etc/p/bmc.secret");
  ASSERT_THAT(named.sources.outlets, SizeIs(2));
  const auto& outlet = named.sources.outlets[0];
  EXPECT_EQ(outlet.credentials, "/secrets/pdu");
  EXPECT_EQ(outlet.power_unit, 10);
  EXPECT_EQ(outlet.energy_unit, 360'000);
  EXPECT_EQ(outlet.accuracy, 0.01);
  EXPECT_EQ(outlet.feeds, 4);
  EXPECT_EQ(named.sources.outlets[1].feeds, 1);
  ASSERT_THAT(named.wall, SizeIs(1));
  EXPECT_EQ(named.wall[0], "/etc/p/wall-n17.csv");
}

TEST(OtherMeters, WhatIsWrongInTheFileIsNamedWithItsLine) {
  EXPECT_THAT(refusal("[redfish]\naddress = 3"),
              HasSubstr("/etc/p/meters.toml:2: 'redfish.address' is no text"));
  EXPECT_THAT(refusal("[redfish]\naddress = \"https://a\""),
              HasSubstr("'redfish.credentials' is missing"));
  EXPECT_THAT(refusal("[[wall]]\nfile = \"a\"\nfeeds = 3"),
              HasSubstr("meters.toml:3: no key 'wall.feeds'"));
  EXPECT_THAT(refusal("[[outlets]]"), HasSubstr("'outlets' is none of [redfish]"));
  EXPECT_THAT(refusal("wall = [3]"), HasSubstr("'wall' is no table"));
  EXPECT_THAT(refusal("version = 2"), HasSubstr("the version is not 1"));
  EXPECT_THAT(refusal("[redfish"), HasSubstr("meters.toml:1: "));
}

TEST(OtherMeters, AnAddressWantsItsCredentials) {
  EXPECT_THROW(named_meters({.redfish = "https://bmc"}), base::Error);
  EXPECT_THROW(named_meters({.file = "/no/such/file"}), base::Error);
}

}  // namespace
}  // namespace parajoule::cli
