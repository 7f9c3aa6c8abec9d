# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
file(APPEND "${PROJECT}/CMakeLists.txt" [[
add_library(more ops.cpp kernels/scale.cpp)
kagent_optimize_kernel(scale TARGET more SOURCE kernels/scale.cpp GOLDEN golden/scale)
add_library(plain ops.cpp kernels/scale.cpp)
foreach(library IN ITEMS more plain)
  add_executable(app_${library} main.cpp)
  target_link_libraries(app_${library} PRIVATE ${library})
endforeach()
]])
configure()
build()
expect_program("1 passes" app)
expect_program("1 passes" app_more)
expect_program("64 passes" app_plain)
expect_nothing_to_do()
git(branch -q -D "${BRANCH}")
build()
expect_compiled(scale.cpp scale.cpp)
expect_nothing_to_do()
