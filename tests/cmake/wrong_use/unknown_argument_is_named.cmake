# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale COLOUR blue]])
expect_wrong_use([[unknown argument "COLOUR"]] [[TIME_BUDGET, MIN_GAIN]])
