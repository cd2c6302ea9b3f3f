#pragma once

// The page of a study: every question with its table, figure and answer.

#include <string>
#include <vector>

#include "report/page.h"
#include "report/point.h"
#include "report/uses.h"

namespace parajoule::report {

/// What is assumed of a part that nobody metered, from the least to the most.
struct Band {
  double low;
  double high;
};

struct Assumptions {
  double devices_per_node = 4;   ///< of a file that does not say
  Band node_watts{0, 110};       ///< network, board, disks, fans: of a node, while the run goes on
  Band supply_loss{0.04, 0.10};  ///< of the power supplies, relative to what they give
  Band cooling{1.05, 1.5};       ///< power usage effectiveness of the building
};

struct Request {
  std::vector<Point> points;              ///< grouped
  std::vector<std::string> missing = {};  ///< what of the input could not be used
  std::vector<Traced> traced = {};        ///< runs whose energy is known moment by moment
  Assumptions assumed = {};
  bool population = false;  ///< show deviations as the population's, under that name
};

Page study_page(Request request);

}  // namespace parajoule::report
