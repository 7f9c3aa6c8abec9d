# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp]])
expect_wrong_use([[GOLDEN is missing]])
