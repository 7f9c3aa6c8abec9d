# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale TUNE SOMETIMES]])
expect_wrong_use([[TUNE "SOMETIMES" is not a mode]] [[PICK, MISSING or ALWAYS]])
