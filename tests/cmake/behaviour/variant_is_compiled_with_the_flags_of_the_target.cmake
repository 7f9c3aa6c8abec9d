# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
file(APPEND "${PROJECT}/CMakeLists.txt" "target_compile_options(ops PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror -DWIDE=1>)\n")
configure()
compile_command(kagent/ops/scale/scale.cpp command)
set(output "${command}")
expect_output(" -Werror -DWIDE=1")
build()
expect_baseline()
