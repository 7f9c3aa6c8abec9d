# SPDX-License-Identifier: Apache-2.0
use_template()
call([[kagent TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]])
expect_wrong_use([["kagent" cannot be]])
