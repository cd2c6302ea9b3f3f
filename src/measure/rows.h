#pragma once

// The meter's words as rows of a record, and back: for everything that keeps or reads a record of
// energies.

#include <span>
#include <string>
#include <vector>

#include "meter/open.h"
#include "meter/sampler.h"
#include "meter/source.h"
#include "meter/sweep.h"
#include "store/rows.h"

namespace parajoule::measure {

store::Source row_of(const meter::Description& description, int source, int node);
meter::Description description_of(const store::Source& row);

/// `first_source`: the number in the record of the sampler's source 0.
store::Reading row_of(const meter::Row& row, int first_source);

/// `source`: the place of the row's source in a list of descriptions.
meter::Row meter_row(const store::Reading& row, std::size_t source);

/// What nobody meters on this node, a line each, as the text of a note: sources that cannot be read
/// with their remedy, and parts that no source covers. `sources`: those that were opened.
std::vector<std::string> not_metered(const meter::Opened& opened,
                                     std::span<const meter::Description> sources);

/// What a record says of the meters of one node before their first reading, whether a command or a
/// training run is metered.
struct MeterRows {
  std::vector<store::Source> sources;
  std::vector<std::string> notes;        ///< as `not_metered` gives them
  std::vector<store::Setting> settings;  ///< update periods that were found earlier
};

/// Sources are numbered from `first_source`.
MeterRows rows_of(const meter::Opened& opened, int first_source, int node);

/// What the metering itself has cost, as the text of a note. `of` says whose: ` of node 1`.
std::string cost_text(const meter::SamplingCost& cost, const std::string& of);

/// The machine this process runs on; the boot id is the host's name where the kernel tells none.
store::Node this_node(int number);

}  // namespace parajoule::measure
