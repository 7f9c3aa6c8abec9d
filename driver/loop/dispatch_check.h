// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "build_step/kernel_context.h"
#include "loop/platform.h"

namespace kagent::loop {

// Whether the build chooses among levels of this kernel at run time.
bool is_dispatched(const KernelRequest& request);

// A dispatched kernel's baseline is compiled with its entry under another name, by a macro over the whole source. An
// error where that does not work: the entry's name is used for something else too, or has an overload.
Result<void> check_dispatch(const build_step::KernelContext& context, const WorkbenchOptions& options,
                            const std::filesystem::path& work_folder);

}  // namespace kagent::loop
