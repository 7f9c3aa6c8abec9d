# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
replace(kernels/scale.cpp [[#include "tile.h"]] "#include \"made.h\"\n#include \"tile.h\"")
call([[none]])
# What the error for a header among the target's sources says to do. A file that is there already needs nothing.
replace(CMakeLists.txt "kagent_optimize_kernel(none)" [[
set(made ${CMAKE_BINARY_DIR}/made)
file(MAKE_DIRECTORY ${made})
add_custom_command(OUTPUT ${made}/made.h COMMAND ${CMAKE_COMMAND} -E touch ${made}/made.h VERBATIM)
add_custom_target(make_header DEPENDS ${made}/made.h)
add_dependencies(ops make_header)
target_include_directories(ops PRIVATE ${made})
set_source_files_properties(kernels/scale.cpp PROPERTIES OBJECT_DEPENDS ${CMAKE_SOURCE_DIR}/golden/scale/reference.cpp)
add_subdirectory(tuning)]])
write(tuning/CMakeLists.txt
  "kagent_optimize_kernel(scale TARGET ops SOURCE ../kernels/scale.cpp GOLDEN ../golden/scale)\n")
configure()
build()
expect_no_output("not found")
expect_baseline()
expect_nothing_to_do()
