# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES x86-64-v2]])
file(RENAME "${PROJECT}" "${WORK}/inner")
file(MAKE_DIRECTORY "${PROJECT}")
file(RENAME "${WORK}/inner" "${PROJECT}/inner")
file(READ "${PROJECT}/inner/CMakeLists.txt" text)
string(REGEX MATCH "kagent_optimize_kernel\\([^\n]*\\)\n" call "${text}")
string(REPLACE "${call}" "set(CMAKE_CXX_FLAGS \"-DINNER\")\n" text "${text}")
write(inner/CMakeLists.txt "${text}")
string(REPLACE " kernels/" " inner/kernels/" call "${call}")
string(REPLACE " golden/" " inner/golden/" call "${call}")
write(CMakeLists.txt
  "cmake_minimum_required(VERSION 3.25)\nproject(outer CXX)\nadd_subdirectory(inner)\nfind_package(KAgent)\n${call}")
expect_wrong_use("CMAKE_CXX_FLAGS is \"-DINNER\"" "target_compile_options()")

# Those of a configuration likewise.
replace(inner/CMakeLists.txt "CMAKE_CXX_FLAGS " "CMAKE_CXX_FLAGS_RELEASE ")
expect_wrong_use("CMAKE_CXX_FLAGS_RELEASE is \"-DINNER\"" "target_compile_options()")
