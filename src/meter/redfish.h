#pragma once

// The power of a whole node as its management controller tells it: Redfish, over HTTPS.

#include "meter/open.h"

namespace parajoule::meter {

/// Asks the controller at `options.redfish`, if there is one, as the user of the credentials' file,
/// once a second from a thread of its own. Finds its chassis first, which may take seconds: only
/// who names an address pays for that. Each chassis with a power is one `node`.
Opened open_redfish(const Options& options);

}  // namespace parajoule::meter
