# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
file(APPEND "${PROJECT}/CMakeLists.txt" "set_target_properties(ops PROPERTIES UNITY_BUILD ON)\n"
  "target_precompile_headers(ops PRIVATE <vector>)\n")
configure()
build()
if(NOT output MATCHES "kagent/ops/scale/scale\\.cpp\\.o")
  message(FATAL_ERROR "${output}\nthe kernel was merged with other sources")
endif()
expect_baseline()
expect_nothing_to_do()
