# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/other.cpp SOURCE kernels/scale.cpp GOLDEN golden/scale]])
expect_wrong_use("SOURCE is given twice" "keep one")
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale
  ARCHITECTURES x86-64 TUNE PICK ARCHITECTURES x86-64-v3]])
expect_wrong_use("ARCHITECTURES is given twice")
