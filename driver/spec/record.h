// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/case_data.h"
#include "values/kernel_spec.h"

namespace kagent::spec {

// Records a case of the spec: inputs and expected values (rounded to the outputs' dtypes) as <case>.<parameter>.npy in
// the golden folder, scalars and the files' names in kernel.json. Inputs that are recorded already are left alone.
// kernel.json is replaced last and as a whole, laid out anew with its key order kept; if the result does not load, it
// is put back. Returns the files that were written.
Result<std::vector<std::filesystem::path>> record(const KernelSpec& spec, const Case& base, const CallInputs& inputs,
                                                  const Expected& expected);

}  // namespace kagent::spec
