# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[set(KAGENT_MODEL_KEY sk-test-0123456789)]])
expect_wrong_use([[KAGENT_MODEL_KEY is not where a key is]] [[env:NAME]])
_configure()
if("${output}" MATCHES "sk-test-0123456789")
  _fail("the error shows the key")
endif()
