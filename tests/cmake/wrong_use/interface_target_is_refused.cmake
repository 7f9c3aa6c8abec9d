# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET headers SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[add_library(headers INTERFACE)]])
expect_wrong_use([[TARGET "headers" is of type INTERFACE_LIBRARY]])
