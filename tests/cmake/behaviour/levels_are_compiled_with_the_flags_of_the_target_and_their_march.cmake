# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
file(READ "${HERE}/every_setting.cmake" settings)

call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES x86-64-v2 x86-64-v3]])
file(READ "${PROJECT}/CMakeLists.txt" text)
write(CMakeLists.txt "${text}${settings}")
configure()
compile_command(kagent/ops/scale/scale.cpp main)
foreach(level IN ITEMS x86-64-v2 x86-64-v3)
  compile_command(kagent/ops/scale/${level}/scale.cpp got)
  # A system folder is searched like any other, and warnings are off: the baseline has them.
  string(REPLACE " -isystem ${PROJECT}/system" " -I${PROJECT}/system" expected "${main}")
  expect_equal("${got}" "${expected} -march=${level} -w -fno-lto -fno-gnu-unique")
endforeach()
