# SPDX-License-Identifier: Apache-2.0
use_template()
call([[gpu TARGET other SOURCE kernels/gpu.cu GOLDEN golden/scale]]
  [[file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/kernels/gpu.cu "")
add_library(other ops.cpp kernels/gpu.cu)]])
expect_wrong_use([[SOURCE "kernels/gpu.cu" is CUDA]] [[enable_language(CUDA)]])
