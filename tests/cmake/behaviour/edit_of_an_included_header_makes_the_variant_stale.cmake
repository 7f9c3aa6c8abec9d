# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
expect_stale_after_edit(kernels/tile.h [[constexpr float kFactor]] [[inline constexpr float kFactor]])
