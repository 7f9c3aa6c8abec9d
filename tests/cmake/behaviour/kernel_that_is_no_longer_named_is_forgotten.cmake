# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
file(APPEND "${PROJECT}/CMakeLists.txt" [[
add_library(more ops.cpp kernels/scale.cpp)
kagent_optimize_kernel(scale TARGET more SOURCE kernels/scale.cpp GOLDEN golden/scale)
]])
configure()
build()
file(GLOB requests RELATIVE "${BUILD}/kagent" "${BUILD}/kagent/*/*/request.json")
expect_equal("${requests}" "more/scale/request.json;ops/scale/request.json")
replace(CMakeLists.txt "kagent_optimize_kernel(scale TARGET more SOURCE kernels/scale.cpp GOLDEN golden/scale)" "")
build()
file(GLOB requests RELATIVE "${BUILD}/kagent" "${BUILD}/kagent/*/*/request.json")
expect_equal("${requests}" "ops/scale/request.json")
expect_nothing_to_do()
