#pragma once

// What feeds a node, metered at its outlet: power distribution units and switches, over SNMP or
// Redfish.

#include "meter/open.h"

namespace parajoule::meter {

/// Asks each of `options.outlets` once a second, from a thread of their own. Their devices are of
/// the kind `outlet`: a total of their own, never added to the parts of a node. Of an outlet that
/// feeds several nodes each is given an equal part, which is `modelled`: nobody measured the share.
Opened open_outlets(const Options& options);

}  // namespace parajoule::meter
