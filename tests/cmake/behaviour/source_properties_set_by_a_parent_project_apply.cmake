# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
file(RENAME "${PROJECT}/CMakeLists.txt" "${PROJECT}/inner.txt")
file(MAKE_DIRECTORY "${WORK}/inner")
file(RENAME "${PROJECT}" "${WORK}/inner/scaling")
file(RENAME "${WORK}/inner/scaling/inner.txt" "${WORK}/inner/scaling/CMakeLists.txt")
file(RENAME "${WORK}/inner" "${PROJECT}")
write(CMakeLists.txt [[
cmake_minimum_required(VERSION 3.25)
project(outer CXX)
add_subdirectory(scaling)
set_source_files_properties(scaling/kernels/scale.cpp TARGET_DIRECTORY ops PROPERTIES COMPILE_DEFINITIONS PASSES=7)
]])
configure()
build()
expect_program("7 passes" scaling/app)
