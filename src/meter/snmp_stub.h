#pragma once

// For tests: a library that answers like Net-SNMP's, as told. Both the library and the test include
// this; the test finds `snmp_stub` in the library it loads.

#include <atomic>

namespace parajoule::meter {

struct SnmpStub {
  static constexpr const char* power = "1.3.6.1.4.1.7.1";
  static constexpr const char* energy = "1.3.6.1.4.1.7.2";

  char words[512] = "";  ///< the arguments of the last session
  int parsed = 1;
  bool opens = true;
  std::atomic<int> fails = 0;  ///< what a question gives; 0: it went well
  std::atomic<const char*> power_value = "412";
  std::atomic<const char*> energy_value = "1000";
  std::atomic<int> sessions = 0;  ///< open ones
};

}  // namespace parajoule::meter

extern "C" parajoule::meter::SnmpStub snmp_stub;
