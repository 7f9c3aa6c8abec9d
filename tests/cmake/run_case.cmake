# SPDX-License-Identifier: Apache-2.0
# cmake -DCASE=<script> -DGENERATOR=... -DWORK=<folder> ... -P run_case.cmake: one case in a fresh folder.
cmake_minimum_required(VERSION 3.25)
set(HERE "${CMAKE_CURRENT_LIST_DIR}")
include("${HERE}/harness.cmake")

# Settings of whoever runs the tests do not reach into them.
foreach(variable IN ITEMS CI CXXFLAGS CXX CUDAFLAGS CUDAARCHS CUDAHOSTCXX NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS
    NVCC_CCBIN MAKEFLAGS NINJA_STATUS CMAKE_GENERATOR CMAKE_BUILD_TYPE CMAKE_EXPORT_COMPILE_COMMANDS GIT_DIR
    GIT_WORK_TREE GIT_INDEX_FILE DESTDIR)
  unset(ENV{${variable}})
endforeach()
set(ENV{GIT_CONFIG_GLOBAL} /dev/null)
set(ENV{GIT_CONFIG_SYSTEM} /dev/null)
set(ENV{CMAKE_BUILD_PARALLEL_LEVEL} 2)

file(REMOVE_RECURSE "${WORK}")
set(PROJECT "${WORK}/project")
set(BUILD "${WORK}/build")
include("${CASE}")
