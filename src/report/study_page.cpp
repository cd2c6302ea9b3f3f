#include "report/study_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "report/sections.h"

namespace parajoule::report {

Page study_page(Request request) {
  bool assumed = false;
  for (Point& point : request.points)
    if (!point.devices_per_node) {
      point.devices_per_node = request.assumed.devices_per_node;
      assumed = true;
    }
  Page page{.title = "Time and energy of parallel training"};
  add_scaling(request, page);
  add_energy_line(request, page);
  add_intensity(request, page);
  add_profiles(request, page);
  add_node_model(request, page);
  if (assumed)
    page.sections.back().say(
        fmt::format("Some inputs do not say how many devices a node has; {:.0f} are assumed "
                    "(--devices-per-node).",
                    request.assumed.devices_per_node));
  add_hardware(request, page);
  add_coverage(request, page);
  add_cost(request, page);
  add_uses(request, page);
  add_inputs(request, page);
  if (page.supported.empty())
    page.supported.push_back("Nothing: no row has both an energy and device hours.");
  return page;
}

}  // namespace parajoule::report
