# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels GOLDEN golden/scale]])
expect_wrong_use([[SOURCE "kernels" is not a file]])
