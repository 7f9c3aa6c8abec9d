# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
write(base.cpp "int ops();\nint base() { return ops(); }\n")
file(APPEND "${PROJECT}/CMakeLists.txt" [[
add_library(base base.cpp)
target_link_libraries(base PRIVATE ops)
target_link_libraries(ops PRIVATE base)
add_library(options INTERFACE)
target_link_libraries(options INTERFACE base)
target_link_libraries(ops PUBLIC options)
]])
configure()
build()
expect_baseline()
expect_nothing_to_do()
