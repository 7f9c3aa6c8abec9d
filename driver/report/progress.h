// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>

#include "values/progress.h"

namespace kagent::report {

// Shows a run on `stream`: a live display where that is a terminal that can show one, plain lines otherwise.
std::unique_ptr<ProgressObserver> make_progress(std::FILE* stream);

}  // namespace kagent::report
