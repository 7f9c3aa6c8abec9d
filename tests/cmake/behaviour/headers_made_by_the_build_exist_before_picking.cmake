# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Ninja Multi-Config, Unix Makefiles
use_template()
replace(kernels/scale.cpp [[#include "tile.h"]] [[
#include "made_by_command.h"
#include "made_by_library.h"
#include "made_by_target.h"
#include "tile.h"]])
file(APPEND "${PROJECT}/CMakeLists.txt" [[
set(made ${CMAKE_BINARY_DIR}/made)
file(MAKE_DIRECTORY ${made})
foreach(name IN ITEMS command target library)
  add_custom_command(OUTPUT ${made}/made_by_${name}.h
    COMMAND ${CMAKE_COMMAND} -E touch ${made}/made_by_${name}.h VERBATIM)
endforeach()
target_sources(ops PRIVATE ${made}/made_by_command.h)
add_custom_target(make_header DEPENDS ${made}/made_by_target.h)
add_dependencies(ops make_header)
add_library(base base.cpp ${made}/made_by_library.h)
target_link_libraries(ops PRIVATE base)
target_include_directories(ops PRIVATE ${made})
]])
write(base.cpp "int base() { return 0; }\n")
configure()
build()
expect_no_output("not found")
expect_baseline()
expect_nothing_to_do()
