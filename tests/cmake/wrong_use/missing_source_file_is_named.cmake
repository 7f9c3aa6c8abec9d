# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scail.cpp GOLDEN golden/scale]])
expect_wrong_use([[SOURCE "kernels/scail.cpp" is not a file]] [[/project/kernels/scail.cpp]])
