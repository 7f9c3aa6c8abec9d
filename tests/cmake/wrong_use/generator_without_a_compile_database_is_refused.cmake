# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  [[set(CMAKE_GENERATOR "Visual Studio 17 2022")]])
expect_wrong_use([[generator "Visual Studio 17 2022" is not supported]] [[Unix Makefiles]])
