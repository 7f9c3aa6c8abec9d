# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale TIME_BUDGET 5d]])
expect_wrong_use([[TIME_BUDGET "5d" is not a duration]] [[90, 90s, 5m, 1h]])
