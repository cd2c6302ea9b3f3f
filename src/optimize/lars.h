#pragma once

#include <memory>

#include "base/settings.h"
#include "optimize/optimizer.h"
#include "schedule/layout.h"

namespace parajoule::optimize {

std::unique_ptr<Optimizer> make_lars(const base::Settings&, const schedule::Layout&, const Memory&);

}  // namespace parajoule::optimize
