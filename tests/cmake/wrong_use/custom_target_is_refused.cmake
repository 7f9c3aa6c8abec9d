# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET docs SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[add_custom_target(docs)]])
expect_wrong_use([[TARGET "docs" is of type UTILITY]])
