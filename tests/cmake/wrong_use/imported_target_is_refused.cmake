# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET outside SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[add_library(outside STATIC IMPORTED)]])
expect_wrong_use([[TARGET "outside" is imported]])
