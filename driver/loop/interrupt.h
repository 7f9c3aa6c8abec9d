// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kagent::loop {

// From the first call on, SIGINT and SIGTERM ask for an orderly end: what is finished is kept. A second one ends the
// process at once; the kernel then ends its children.
void catch_interrupts();

// Whether an end was asked for.
bool interrupted();

}  // namespace kagent::loop
