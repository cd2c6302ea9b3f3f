#include "report/page.h"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "report/decimal.h"

namespace parajoule::report {

Cell cell_of(const std::optional<Derived>& number) {
  if (!number) return {"-"};
  if (!number->half_width) return {supported(number->value, number->half_unit)};
  const std::string both = supported(number->value, number->half_unit, *number->half_width);
  constexpr std::string_view sign = " ± ";
  const std::size_t at = both.find(sign);
  if (at == std::string::npos) return {both};
  return {both.substr(0, at), both.substr(at + sign.size())};
}

Cell fine_cell_of(const std::optional<Derived>& number) {
  Cell cell = cell_of(number);
  if (number) cell.text = supported(number->value, number->half_unit);
  return cell;
}

Cell cell_of(double value, double half_unit) { return {supported(value, half_unit)}; }

Cell cell_of(const std::optional<double>& count) {
  return {count ? fmt::format("{:.0f}", *count) : "-"};
}

Cell repeats_cell(const Point& point) {
  return {fmt::format("{}{}", point.repeats, point.preliminary() ? " †" : ""), "",
          anchor_of(point)};
}

std::string anchor_of(const Point& point) {
  std::string anchor = "behind";
  for (const std::string& part :
       {point.series, point.hardware, point.label, std::to_string(point.devices),
        fmt::format("{:.0f}", point.local_batch.value_or(0)),
        fmt::format("{:.0f}", point.global_batch.value_or(0)),
        fmt::format("{:.0f}", point.data_set.value_or(0)),
        fmt::format("{:.0f}", point.epochs.value_or(0))}) {
    anchor += '-';
    for (const char letter : part)
      anchor += std::isalnum(static_cast<unsigned char>(letter)) ? letter : '_';
  }
  return anchor;
}

std::string name_of(const Point& point) {
  if (!point.local_batch) return fmt::format("{} devices", point.devices);
  return fmt::format("{} × {:.0f}", point.devices, *point.local_batch);
}

std::string count_text(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (int at = int(text.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    text.insert(std::size_t(at), " ");
  return text;
}

}  // namespace parajoule::report
