# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
# A project that is strict with its own code, and uses a library that kagent uses as well.
write(fmt/format.cpp "namespace fmt { int version() { return 1; } }\n")
replace(CMakeLists.txt "find_package(KAgent CONFIG REQUIRED)" [[
add_compile_options(-Wall -Wextra -Werror -Wold-style-cast -Wsign-conversion -fno-exceptions -fno-rtti)
add_compile_definitions(NDEBUG=strange)
set(CMAKE_CXX_STANDARD 14)
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/out)
add_library(fmt fmt/format.cpp)
add_library(fmt::fmt ALIAS fmt)
add_subdirectory(${KAGENT_SOURCE} kagent EXCLUDE_FROM_ALL)
]])
configure("-DKAGENT_SOURCE=${KAGENT_SOURCE}" "-DCMAKE_CXX_FLAGS=-Werror -fno-exceptions")
set(as_subproject "${BUILD}")

build(--target help)
foreach(target IN ITEMS scale-tune kagent-tune kagent-verify kagent-report)
  expect_output("${target}")
endforeach()
# Nothing of kagent's own tests, and a part of it to see that it compiles here.
foreach(target IN ITEMS kagent_util_tests gtest)
  expect_no_output("${target}")
endforeach()
build(--target kagent_values)
expect_no_output("warning")

# The request is the one that the installed package makes.
file(READ "${BUILD}/kagent/ops/scale/request.json" request)
set(BUILD "${WORK}/other")
replace(CMakeLists.txt [[
add_subdirectory(${KAGENT_SOURCE} kagent EXCLUDE_FROM_ALL)
]] "find_package(KAgent CONFIG REQUIRED)\n")
configure()
file(READ "${BUILD}/kagent/ops/scale/request.json" other)
string(REPLACE "${BUILD}" "${as_subproject}" other "${other}")
expect_equal("${request}" "${other}")
