# SPDX-License-Identifier: Apache-2.0
use_template()
call([[plain TARGET other SOURCE kernels/plain.c GOLDEN golden/scale]]
  [[file(WRITE ${CMAKE_CURRENT_SOURCE_DIR}/kernels/plain.c "")
add_library(other ops.cpp kernels/plain.c)]])
expect_wrong_use([[SOURCE "kernels/plain.c" is not compiled as C++ or CUDA]])
