#include "meter/figures.h"

#include "base/error.h"

namespace parajoule::meter {

namespace {

template <Label label>
std::optional<Intensity> intensity(const std::optional<Total<label>>& total, const Work& work,
                                   double device_hours) {
  if (!total) return {};
  const double kilowatt_hours = base::kilowatt_hours(total->energy());
  Intensity intensity{.kilowatt_hours_per_device_hour = kilowatt_hours / device_hours};
  if (work.samples > 0)
    intensity.watt_hours_per_1000_samples = kilowatt_hours * 1e6 / double(work.samples);
  return intensity;
}

}  // namespace

Figures figures(const Totals& totals, const Work& work) {
  const double device_hours = work.devices * base::hours(work.wall);
  base::ensure(device_hours > 0, "a span has a length and at least one device");
  return {.device_hours = device_hours,
          .samples_per_device_hour = double(work.samples) / device_hours,
          .passes_per_device_hour = double(work.passes) / device_hours,
          .measured = intensity(totals.measured, work, device_hours),
          .modelled = intensity(totals.modelled, work, device_hours)};
}

}  // namespace parajoule::meter
