# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[add_custom_target(scale-tune)]])
expect_wrong_use([[the target "scale-tune"]] [[rename]])
