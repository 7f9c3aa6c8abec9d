# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
file(APPEND "${PROJECT}/CMakeLists.txt" [[
install(TARGETS ops EXPORT scaling DESTINATION lib)
install(EXPORT scaling NAMESPACE scaling:: DESTINATION lib/cmake/scaling)
export(EXPORT scaling)
]])
configure(-DCMAKE_INSTALL_PREFIX=${WORK}/prefix)
build()
run(${CMAKE_COMMAND} --install "${BUILD}")
expect_no_output("kagent")
