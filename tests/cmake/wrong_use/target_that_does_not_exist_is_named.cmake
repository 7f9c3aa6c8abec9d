# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET opps SOURCE kernels/scale.cpp GOLDEN golden/scale]])
expect_wrong_use([[TARGET "opps" does not exist]])
