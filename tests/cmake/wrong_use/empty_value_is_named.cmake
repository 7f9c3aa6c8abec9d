# SPDX-License-Identifier: Apache-2.0
use_template()
foreach(keyword IN ITEMS ROUNDS TIME_BUDGET PROPOSER)
  call("scale TARGET ops ${keyword} \"\" SOURCE kernels/scale.cpp GOLDEN golden/scale")
  expect_wrong_use("${keyword} is empty" "leave ${keyword} out")
endforeach()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale WIDTH ""]])
expect_wrong_use("WIDTH is empty")
