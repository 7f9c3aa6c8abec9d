# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale rounds 5]])
expect_wrong_use([[unknown argument "rounds"]] [[did you mean ROUNDS?]])
