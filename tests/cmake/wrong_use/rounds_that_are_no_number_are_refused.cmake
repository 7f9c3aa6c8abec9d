# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ROUNDS many]])
expect_wrong_use([[ROUNDS "many" is not a whole number]] [[ROUNDS 6]])
