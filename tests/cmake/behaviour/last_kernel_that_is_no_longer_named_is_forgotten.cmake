# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
# A package found from a function of a sub-directory; what a sub-project adds comes to the same.
replace(CMakeLists.txt "find_package(KAgent CONFIG REQUIRED)" "add_subdirectory(tools)")
write(tools/CMakeLists.txt "function(find)\n  find_package(KAgent CONFIG REQUIRED)\nendfunction()\nfind()\n")
configure()
build()
file(GLOB requests RELATIVE "${BUILD}/kagent" "${BUILD}/kagent/*/*/request.json")
expect_equal("${requests}" "ops/scale/request.json")

file(READ "${PROJECT}/CMakeLists.txt" text)
string(REGEX REPLACE "kagent_optimize_kernel\\([^\n]*\\)\n" "" text "${text}")
write(CMakeLists.txt "${text}")
build()
expect_compiled(scale.cpp)
file(GLOB requests RELATIVE "${BUILD}/kagent" "${BUILD}/kagent/*/*/request.json")
expect_equal("${requests}" "")
expect_nothing_to_do()
