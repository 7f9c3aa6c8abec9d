# SPDX-License-Identifier: Apache-2.0
use_template()
call([[TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]])
expect_wrong_use([[has to be the kernel's name]])
