#pragma once

// Numbers as a table gives them: how far the last digit leaves them open, and how many digits a
// number made of them may have.

#include <optional>
#include <string>
#include <string_view>

namespace parajoule::report {

struct Decimal {
  double value;
  double half_unit;  ///< half of the last digit's place: 0.411 lies within 0.411 ± 0.0005
};

/// A plain decimal, with an exponent or without; nothing for other text, NaN and infinity.
std::optional<Decimal> decimal_of(std::string_view text);

/// `value` without a digit whose place is finer than `half_width`, which bounds its rounding error:
/// 0.442579 ± 0.00066 is 0.443. One digit more where the number shown would lie outside: 24.66 ±
/// 0.03 is 24.66 and not 24.7. With `half_width` 0, five significant digits. Never an exponent.
std::string supported(double value, double half_width);

/// `value ± spread`, the spread to two significant digits and no finer than `half_width` allows.
std::string supported(double value, double half_width, double spread);

}  // namespace parajoule::report
