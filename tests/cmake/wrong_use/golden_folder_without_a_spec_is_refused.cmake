# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden]])
expect_wrong_use([[GOLDEN "golden" has no kernel.json]] [[kagent init]])
