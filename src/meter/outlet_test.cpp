#include "meter/outlet.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <thread>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "meter/account.h"
#include "meter/credentials.h"
#include "meter/made_up_redfish.h"
#include "meter/made_up_tree.h"
#include "meter/snmp.h"
#include "meter/snmp_stub.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The stub as the meter will load it, and an outlet that it answers for.
class Outlets : public testing::Test {
 protected:
  Outlets() : handle_(::dlopen(SNMP_STUB, RTLD_NOW)) {
    if (!handle_) throw std::runtime_error(::dlerror());
    stub = static_cast<SnmpStub*>(::dlsym(handle_, "snmp_stub"));
    stub->~SnmpStub();
    new (stub) SnmpStub();
    credentials("community = hidden\n");
    outlet.name = "A7";
    outlet.address = "pdu3:161";
    outlet.credentials = tree.root() / "pdu";
    outlet.power = SnmpStub::power;
  }
  ~Outlets() override { ::dlclose(handle_); }

  void credentials(const std::string& lines, int mode = 0600) const {
    tree.write("pdu", lines);
    std::filesystem::permissions(tree.root() / "pdu", std::filesystem::perms(mode));
  }

  Opened open() const {
    Options options = tree.options();
    options.snmp = SNMP_STUB;
    options.outlets = {outlet};
    return open_outlets(options);
  }

  static Reading next(Source& source) {
    while (!source.ready()) std::this_thread::yield();
    return source.read(Seconds(0));
  }

  MadeUpTree tree;
  SnmpStub* stub;
  Options::Outlet outlet;

 private:
  void* handle_;
};

TEST_F(Outlets, TellTheirPowerAndEnergyInTheUnitsStated) {
  outlet.energy = std::string(".") + SnmpStub::energy;
  outlet.power_unit = 0.1;
  outlet.energy_unit = 3600;
  const Opened opened = open();
  ASSERT_THAT(opened.sources, SizeIs(2)) << opened.unavailable.at(0).reason;
  const Description& power = opened.sources[0]->description();
  EXPECT_EQ(power.device, "outlet A7");
  EXPECT_EQ(power.device_kind, "outlet");
  EXPECT_EQ(power.label, Label::measured);
  EXPECT_THAT(power.covers, HasSubstr("SNMP (pdu3:161); never seen on real hardware"));
  EXPECT_NEAR(std::get<double>(next(*opened.sources[0])), 41.2, 1e-9);
  EXPECT_NEAR(std::get<double>(next(*opened.sources[1])), 3.6e6, 1e-6);
}

TEST_F(Outlets, OfASharedOneANodeHasAnEqualPartWhichIsModelled) {
  outlet.feeds = 4;
  const Opened opened = open();
  ASSERT_THAT(opened.sources, SizeIs(1));
  const Description& power = opened.sources[0]->description();
  EXPECT_EQ(power.label, Label::modelled);
  EXPECT_THAT(*power.formula, HasSubstr("divided by 4"));
  EXPECT_EQ(std::get<double>(next(*opened.sources[0])), 103);
}

TEST_F(Outlets, AreAskedAsTheFileOfCredentialsSays) {
  ASSERT_THAT(open().sources, SizeIs(1));
  EXPECT_THAT(stub->words, HasSubstr("-v 2c -c hidden pdu3:161"));
  EXPECT_THAT(stub->words, HasSubstr("-t 1 -r 0"));
  credentials("user = meter\npassword = longenough\nauthentication = SHA-256\n");
  ASSERT_THAT(open().sources, SizeIs(1));
  EXPECT_THAT(stub->words, HasSubstr("-v 3 -l authPriv -u meter -a SHA-256 -A longenough -x AES "
                                     "-X longenough pdu3:161"));
  EXPECT_EQ(stub->sessions, 0);  // closed with their sources
}

TEST_F(Outlets, NoAnswerIsAGapAndNever0) {
  const Opened opened = open();
  ASSERT_THAT(opened.sources, SizeIs(1));
  stub->power_value = "0";
  const auto cause = [&] {
    Reading reading = next(*opened.sources[0]);
    while (!std::holds_alternative<Gap>(reading)) reading = next(*opened.sources[0]);
    return std::get<Gap>(reading);
  };
  EXPECT_EQ(cause().cause, Gap::Cause::implausible);
}

TEST_F(Outlets, WhatCannotBeAskedIsSaidWithItsRemedy) {
  const auto said = [&] {
    const Opened opened = open();
    EXPECT_THAT(opened.sources, IsEmpty());
    return opened.unavailable.at(0);
  };
  stub->fails = -2;
  EXPECT_THAT(said().reason, HasSubstr("does not answer over SNMP (code -2)"));
  stub->fails = 0;
  stub->opens = false;
  EXPECT_THAT(said().reason, HasSubstr("no way to 'pdu3:161'"));
  stub->opens = true;
  stub->parsed = -1;
  EXPECT_THAT(said().reason, HasSubstr("does not know this way to log in"));
  stub->parsed = 1;
  outlet.power = "1.3.6.1.9.9";
  EXPECT_THAT(said().reason, HasSubstr("No Such Object"));
  EXPECT_THAT(said().remedy, HasSubstr("snmpget"));
  outlet.power = "sysUpTime";
  EXPECT_THAT(said().reason, HasSubstr("'sysUpTime' is no object"));
  outlet.power.clear();
  EXPECT_THAT(said().reason, HasSubstr("neither an object of power nor one of energy"));
  outlet.power = SnmpStub::power;
  credentials("community = hidden\n", 0644);
  EXPECT_THAT(said().reason, HasSubstr("mode 0644"));
  EXPECT_THAT(said().remedy, HasSubstr("'community = ...'"));
}

TEST_F(Outlets, WithoutTheLibraryItIsSaid) {
  Options options = tree.options();
  options.snmp = "/no/such/libnetsnmp.so";
  options.outlets = {outlet};
  EXPECT_THAT(open_outlets(options).unavailable.at(0).remedy, HasSubstr("libsnmp40"));
  options.outlets.clear();
  EXPECT_THAT(open_outlets(options).unavailable, IsEmpty());
}

TEST(RedfishOutlet, IsOneResourceOfAPowerDistributionUnit) {
  const MadeUpRedfish server(
      R"({"/redfish/v1/PowerEquipment/RackPDUs/1/Outlets/A7":
          {"body": {"PowerWatts": {"Reading": 412}, "EnergykWh": {"Reading": 2}}}})",
      MadeUpRedfish::Wire::open);
  Options options = server.options();
  options.outlets = {
      {.name = "A7",
       .address = options.redfish->address + "/redfish/v1/PowerEquipment/RackPDUs/1/Outlets/A7",
       .credentials = options.redfish->credentials,
       .feeds = 2}};
  const Opened opened = open_outlets(options);
  ASSERT_THAT(opened.sources, SizeIs(2)) << opened.unavailable.at(0).reason;
  EXPECT_EQ(opened.sources[0]->description().device_kind, "outlet");
  for (const auto& [place, value] : {std::pair(0, 206.0), {1, 3.6e6}}) {
    Source& source = *opened.sources[std::size_t(place)];
    while (!source.ready()) std::this_thread::yield();
    EXPECT_NEAR(std::get<double>(source.read(Seconds(0))), value, 1e-6);
  }
  options.outlets[0].address = options.redfish->address + "/redfish/v1/none";
  EXPECT_THAT(open_outlets(options).unavailable.at(0).reason, HasSubstr("HTTP 404"));
  options.outlets[0].address = "http://pdu7/redfish/v1/x";
  EXPECT_THAT(open_outlets(options).unavailable.at(0).reason, HasSubstr("in the open"));
}

TEST(Snmp, TakesObjectsAndNumbersAsTheyAreWritten) {
  EXPECT_THAT(snmp_object("1.3.6.1"), ElementsAre(1, 3, 6, 1));
  EXPECT_THAT(snmp_object(".1.3"), ElementsAre(1, 3));
  for (const char* none : {"", ".", "1", "1.", "1..3", "a.b", "1.3.x", "1.-3", "1.4294967296"})
    EXPECT_THAT(snmp_object(none), IsEmpty()) << none;
  EXPECT_THAT(snmp_object("1" + std::string(400, '1')), IsEmpty());
  EXPECT_EQ(std::get<double>(snmp_number("412")), 412);
  EXPECT_EQ(std::get<double>(snmp_number("\" 41.2 \"")), 41.2);
  for (const char* none :
       {"", "\"", "NULL", "No Such Instance currently exists at this OID", "412 W", "nan", "inf"})
    EXPECT_TRUE(std::holds_alternative<std::string>(snmp_number(none))) << none;
}

TEST(SnmpAccess, IsACommunityOrAUser) {
  EXPECT_EQ(snmp_access_in("community = a", "f").community, "a");
  EXPECT_EQ(snmp_access_in("user = u\npassword = p\nprivacy = DES", "f").privacy, "DES");
  for (const char* text : {"", "user = hunter2", "community = a\nuser = hunter2", "hunter2"}) {
    try {
      snmp_access_in(text, "f");
      ADD_FAILURE() << text;
    } catch (const base::Error& error) {
      EXPECT_EQ(std::string(error.what()).find("hunter2"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace parajoule::meter
