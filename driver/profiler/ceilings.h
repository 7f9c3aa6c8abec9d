// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "profiler/roofline.h"

namespace kagent::profiler {

// Measures both roofs on the calling thread; takes about half a second.
Ceilings measure_ceilings();

// The ceilings of `machine` from `file`, or measured now and added to it. A file that cannot be read or written costs
// the measurement each time, and nothing else.
Ceilings cached_ceilings(const std::filesystem::path& file, const std::string& machine,
                         const std::function<Ceilings()>& measure = measure_ceilings);

}  // namespace kagent::profiler
