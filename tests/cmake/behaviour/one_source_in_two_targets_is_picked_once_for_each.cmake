# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Ninja Multi-Config, Unix Makefiles
use_template()
file(APPEND "${PROJECT}/CMakeLists.txt" [[
add_library(more SHARED ops.cpp kernels/scale.cpp)
target_compile_definitions(more PRIVATE PASSES=9)
kagent_optimize_kernel(scale TARGET more SOURCE kernels/scale.cpp GOLDEN golden/scale)
add_executable(other main.cpp)
target_link_libraries(other PRIVATE more)
]])
configure()
build()
string(REGEX MATCHALL "Picking scale for [a-z]+" picks "${output}")
list(SORT picks)
expect_equal("${picks}" "Picking scale for more;Picking scale for ops")
expect_baseline()
expect_program("9 passes" other)
expect_nothing_to_do()
