# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES x86-64-v9]])
expect_wrong_use([[ARCHITECTURES "x86-64-v9" is not a known level]] [[x86-64-v4]])
