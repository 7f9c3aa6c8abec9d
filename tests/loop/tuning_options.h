// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loop/tuning.h"
#include "store/variant_store.h"
#include "util/sandbox.h"

namespace kagent::loop {

// What every run of a test needs: the runtime, the project's state, and the sandbox where there is one.
inline TuningOptions tuning_options(const store::VariantStore& variants) {
  TuningOptions options;
  options.bench.runtime = KAGENT_RUNTIME;
  options.bench.state_folder = variants.state_folder();
  options.bench.allow_unsandboxed = !util::sandbox_state().available;
  return options;
}

}  // namespace kagent::loop
