# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale MIN_GAIN 2]])
expect_wrong_use([[MIN_GAIN "2" is not a share]] [[0.02]])
