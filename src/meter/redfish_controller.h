#pragma once

// One server that speaks Redfish, asked over HTTPS.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/quantity.h"
#include "meter/http.h"
#include "meter/poll.h"

namespace parajoule::meter {

inline constexpr base::Seconds redfish_pace{1};  ///< schemas do not say how often one is renewed

/// EnergykWh is given in thousandths by the examples of the schema; boards may round more.
inline constexpr double redfish_energy_step = 3600;

/// Remembers that it was refused: asking on would lock the user out.
class RedfishController {
 public:
  RedfishController(std::unique_ptr<Http> http, std::string address)
      : http_(std::move(http)), address_(std::move(address)) {}

  /// The body at a path; throws Error{environment} with the reason if there is none.
  std::string get(const std::string& path, const Stopped& stopped);

 private:
  std::unique_ptr<Http> http_;
  std::string address_;
  std::string refused_;
};

/// Asks for power and energy of what lies at `path`, in this order; of `parts` equal parts, one.
Poll::Ask redfish_numbers(std::shared_ptr<RedfishController> controller, std::string path,
                          int parts = 1);

/// Why an address will not do: it must be `https://...`; `http://` only of this machine, for
/// passwords travel there in the open. Empty: it will.
std::string wrong_address(std::string_view address);

}  // namespace parajoule::meter
