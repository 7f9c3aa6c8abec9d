# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale TIME_BUGDET 5m]])
expect_wrong_use([[unknown argument "TIME_BUGDET"]] [[did you mean TIME_BUDGET?]])
