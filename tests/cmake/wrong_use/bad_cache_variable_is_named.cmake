# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[set(KAGENT_ROUNDS -3)]])
expect_wrong_use([[KAGENT_ROUNDS "-3" is not a whole number]])
