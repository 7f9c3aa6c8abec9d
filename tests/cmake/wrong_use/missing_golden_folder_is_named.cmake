# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scail]])
expect_wrong_use([[GOLDEN "golden/scail" is not a folder]])
