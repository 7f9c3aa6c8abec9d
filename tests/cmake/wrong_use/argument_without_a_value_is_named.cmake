# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ROUNDS]])
expect_wrong_use([[ROUNDS has no value]])
