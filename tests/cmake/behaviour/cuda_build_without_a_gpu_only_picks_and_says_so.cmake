# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_cuda_template()
configure(-DKAGENT_TUNE=MISSING)
build()
expect_output("kagent: scale (ops, sm_90) is not tuned: ")
expect_output(", so this build only picks")
expect_output("kagent: scale (ops, sm_90): baseline (there is no variant)")
expect_program("block of 64")
expect_nothing_to_do()

configure(-DKAGENT_TUNE=MISSING -DKAGENT_REQUIRE_TUNED=ON)
_run(${CMAKE_COMMAND} --build "${BUILD}")
if(status EQUAL 0)
  _fail("a required variant is missing, and the build succeeded")
endif()
expect_output("scale requires a tuned variant for sm_90, and none matches")

run("${KAGENT_BUILD}/bin/kagent" doctor)
expect_output("Cuda compilation tools, release ")
if(EXISTS "${KAGENT_BUILD}/libexec/kagent/kagent-nvrtc-worker")
  expect_output("ok       NVRTC worker       NVRTC 1")
endif()

file_variant(scale sm_90 "BLOCK 64" "BLOCK 128")
build()
expect_no_output("is not tuned")
expect_program("block of 128")
expect_nothing_to_do()
