#pragma once

// The sections of a study's page, one question each. They add to the verdict what follows.

#include "report/page.h"
#include "report/study_page.h"

namespace parajoule::report {

void add_scaling(const Request& request, Page& page);      // scaling.cpp
void add_energy_line(const Request& request, Page& page);  // energy_line.cpp
void add_intensity(const Request& request, Page& page);    // intensity.cpp
void add_profiles(const Request& request, Page& page);     // profiles.cpp
void add_node_model(const Request& request, Page& page);   // node_model.cpp
void add_hardware(const Request& request, Page& page);     // hardware.cpp
void add_coverage(const Request& request, Page& page);     // coverage.cpp
void add_cost(const Request& request, Page& page);         // cost.cpp
void add_uses(const Request& request, Page& page);         // uses_section.cpp
void add_inputs(const Request& request, Page& page);       // inputs.cpp

/// The columns that say which configuration a row is of.
std::vector<Column> configuration_columns();
std::vector<Cell> configuration_cells(const Point& point);

/// How a set of points was laid out, in words: constant data set or constant samples a device;
/// constant local or global batch.
std::string regime_of(const std::vector<Point>& points);

}  // namespace parajoule::report
