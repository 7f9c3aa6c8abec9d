// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "values/error.h"
#include "values/kernel_spec.h"
#include "values/launch.h"

namespace kagent::build_step {

// The generated function that launches a kernel of style "kernel", with its namespaces: "ops::softmax_launch".
std::string launch_function(const KernelSpec& spec);

// What callers include: the declaration of launch_function(), with the extents of every buffer.
// C++ linkage, in the namespace of the entry: cudaError_t softmax_launch(cudaStream_t stream, parameters...).
std::string launcher_header(const KernelSpec& spec);
std::string launcher_header_name(const KernelSpec& spec);  // "softmax_launch.h"

// Whether a shared library shows the function also where it hides its own. The baseline behind a dispatcher is called
// by that alone.
enum class Seen { outside, as_compiled };

// A CUDA source that holds `kernel_text` (as rendered; `source_name` is what its messages call it) and defines
// launch_function(): the geometry of `launch` computed in 64 bits at each call, tunables taken from the text's macros.
// Nothing is launched and cudaSuccess returned where an extent is 0; a geometry that no device can launch is
// cudaErrorInvalidConfiguration. Stands alone: it needs no generated header.
std::string launcher_source(const KernelSpec& spec, const std::string& kernel_text, const std::string& source_name,
                            const Launch& launch, Seen seen = Seen::outside);

// The same kernel seen from its callers: style launcher, launch_function() as its entry, the stream in front of the
// parameters. What nvcc builds of launcher_source() is checked and measured under this spec.
KernelSpec as_launcher(const KernelSpec& spec);

}  // namespace kagent::build_step
