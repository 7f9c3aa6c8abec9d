# SPDX-License-Identifier: Apache-2.0
use_template()
call([[none]])
replace(CMakeLists.txt "kagent_optimize_kernel(none)" [[
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/made.h
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/made.h VERBATIM)
target_sources(ops PRIVATE ${CMAKE_BINARY_DIR}/made.h)
add_subdirectory(tuning)]])
write(tuning/CMakeLists.txt
  "kagent_optimize_kernel(scale TARGET ops SOURCE ../kernels/scale.cpp GOLDEN ../golden/scale)\n")
expect_wrong_use("the build makes ${BUILD}/made.h" "make the call in ${PROJECT};" "add_custom_target(")
