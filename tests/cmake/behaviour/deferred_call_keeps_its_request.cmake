# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
replace(CMakeLists.txt "kagent_optimize_kernel(scale " "cmake_language(DEFER CALL kagent_optimize_kernel scale ")
configure()
configure()
if(NOT EXISTS "${BUILD}/kagent/ops/scale/request.json")
  message(FATAL_ERROR "the request of a call that is made was removed")
endif()
build()
expect_baseline()
expect_nothing_to_do()
