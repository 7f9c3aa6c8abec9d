# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET SOURCE kernels/scale.cpp GOLDEN golden/scale]])
expect_wrong_use([[TARGET has no value]])
