# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET other SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[add_library(other ops.cpp)]])
expect_wrong_use([[SOURCE "kernels/scale.cpp" is not among the sources of the target "other"]]
  [[one of its sources: ops.cpp]])
