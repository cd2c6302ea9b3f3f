#pragma once

// Questions to an outlet over SNMP, by Net-SNMP's library, loaded when the program runs. Of its
// structures nothing is known here but that they are handed back to it, so its versions may differ.

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "meter/credentials.h"

namespace parajoule::meter {

/// The numbers of an object, `1.3.6.1.4.1...` with or without a dot in front; empty: it is none.
std::vector<unsigned long> snmp_object(std::string_view dotted);

/// The number in a value as the library writes it: `412`, `"41.2"`. A text says what is there
/// instead: `No Such Instance currently exists at this OID`.
std::variant<double, std::string> snmp_number(std::string_view written);

/// One device. Used from one thread at a time; the library's state is one, so questions to several
/// devices wait for each other.
class Snmp {
 public:
  /// `address`: `HOST` or `HOST:PORT`. A text says why it cannot be asked. Nothing is sent yet.
  static std::variant<std::unique_ptr<Snmp>, std::string> open(const std::string& library,
                                                               const std::string& address,
                                                               const SnmpAccess& access);
  virtual ~Snmp() = default;

  /// The number of an object; a text says why there is none. Waits a second at most.
  virtual std::variant<double, std::string> get(const std::vector<unsigned long>& object) = 0;
};

}  // namespace parajoule::meter
