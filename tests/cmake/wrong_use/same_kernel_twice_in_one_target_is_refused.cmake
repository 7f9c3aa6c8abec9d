# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[kagent_optimize_kernel(scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale)]])
expect_wrong_use([[already named for the target "ops"]] [[keep one of the two calls]])
