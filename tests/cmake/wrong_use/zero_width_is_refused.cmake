# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale WIDTH 0]])
expect_wrong_use([[WIDTH "0" is not a whole number]])
