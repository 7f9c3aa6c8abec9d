// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runner/runner.h"
#include "values/case_data.h"
#include "values/kernel_spec.h"
#include "values/run_result.h"

namespace kagent::loop {

// The parameters as the fp64 reference has them: no stream, every floating type float64.
std::vector<Parameter> reference_parameters(const KernelSpec& spec);

// Whether S of some tolerance has to be asked of the reference.
bool has_contraction(const KernelSpec& spec);

// One call on fresh buffers; the images, or how the process failed.
struct Called {
  RunResult result;
  std::vector<BufferImage> images;
};
Result<Called> call_once(runner::Session& session, const CallInputs& inputs, const runner::CallLayout& layout);
// The same on the buffers of the call before, with other contents of the same shapes.
Result<Called> call_again(runner::Session& session, const CallInputs& inputs, std::uint8_t poison);

// The written parameters among the images; `widen` makes floating ones float64.
std::map<std::string, Tensor> written_tensors(const KernelSpec& spec, std::vector<BufferImage> images, bool widen);

// What the reference, started with reference_parameters(), says about these inputs, with S where a tolerance is that of
// a contraction: of another process at the same time, if there is one `beside`. An error names the reference and how it
// failed.
Result<Expected> ask_reference(const KernelSpec& spec, runner::Session& reference, const CallInputs& inputs,
                               runner::Session* beside = nullptr);

}  // namespace kagent::loop
