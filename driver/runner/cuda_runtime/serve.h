// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kagent::runner::cuda {

// Answers the driver's requests until it hangs up. The context has been made before main(), and before any initialiser
// of the candidate's, if the driver's descriptors are there.
[[noreturn]] void serve_requests();

}  // namespace kagent::runner::cuda
