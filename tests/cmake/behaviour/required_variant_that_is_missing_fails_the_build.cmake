# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
configure(-DKAGENT_REQUIRE_TUNED=ON)
_run(${CMAKE_COMMAND} --build "${BUILD}")
if(status EQUAL 0)
  message(FATAL_ERROR "the build succeeded")
endif()
expect_output("requires a tuned variant")
expect_output("fix: ")
