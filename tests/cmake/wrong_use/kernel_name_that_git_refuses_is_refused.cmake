# SPDX-License-Identifier: Apache-2.0
use_template()
call([["sc ale..x" TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]])
expect_wrong_use([["sc ale..x" cannot be a kernel's name]])
