// A wall meter's file, whatever it holds, is refused as a bad input or gives rows in order.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/error.h"
#include "meter/snmp.h"
#include "meter/wall.h"

using namespace parajoule;

namespace {

void claim(bool holds) {
  if (!holds) std::abort();
}

void check(const meter::Series& series) {
  claim(series.description.device_kind == "outlet" && !series.description.covers.empty());
  claim(std::ranges::is_sorted(series.rows, {}, &meter::Row::at));
  for (const meter::Row& row : series.rows)
    if (const double* value = std::get_if<double>(&row.reading))
      claim(std::isfinite(*value) && std::isfinite(row.at.count()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto number = meter::snmp_number(text);
  if (const double* value = std::get_if<double>(&number)) claim(std::isfinite(*value));
  claim(meter::snmp_object(text).size() <= 128);
  std::istringstream stream(text);
  try {
    const meter::Wall wall =
        meter::wall_in(stream, "wall", 1'764'497'472, {base::Seconds(0), base::Seconds(100)});
    for (const meter::Series& series : wall.series) check(series);
  } catch (const base::Error& error) {
    claim(error.fault == base::Fault::input);
  }
  return 0;
}
