# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
file(APPEND "${PROJECT}/CMakeLists.txt" "add_subdirectory(sub)\n")
write(sub/CMakeLists.txt [[
project(sub CXX)
find_package(KAgent CONFIG REQUIRED)
add_library(more ../ops.cpp ../kernels/scale.cpp)
kagent_optimize_kernel(scale TARGET more SOURCE ../kernels/scale.cpp GOLDEN ../golden/scale)
]])
configure()
build(--target help)
foreach(target IN ITEMS scale-tune kagent-tune kagent-verify kagent-report)
  expect_output("${target}")
endforeach()
