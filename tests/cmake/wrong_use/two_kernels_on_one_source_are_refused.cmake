# SPDX-License-Identifier: Apache-2.0
use_template()
call([[second TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[kagent_optimize_kernel(scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale)]])
expect_wrong_use([[already belongs to the kernel "scale"]] [[sources of their own]])
