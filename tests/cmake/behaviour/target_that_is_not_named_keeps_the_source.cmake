# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
file(APPEND "${PROJECT}/CMakeLists.txt" "add_library(plain ops.cpp kernels/scale.cpp)\n"
  "set_target_properties(plain PROPERTIES EXPORT_COMPILE_COMMANDS ON)\n")
configure()
compile_command(/project/kernels/scale.cpp plain)
compile_command(/kagent/ops/scale/scale.cpp tuned)
build()
expect_nothing_to_do()
