# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET other SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[add_library(other $<1:kernels/scale.cpp>)]])
expect_wrong_use([[is not among the sources]] [[inside a generator expression cannot be replaced]])
