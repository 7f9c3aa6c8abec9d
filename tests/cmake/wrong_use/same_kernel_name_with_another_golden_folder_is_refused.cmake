# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET other SOURCE kernels/scale.cpp GOLDEN golden/second]]
  [[kagent_optimize_kernel(scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale)
file(COPY golden/scale/kernel.json DESTINATION ${CMAKE_CURRENT_SOURCE_DIR}/golden/second)
add_library(other kernels/scale.cpp)]])
expect_wrong_use([[already named for the target "ops" with another GOLDEN]])
