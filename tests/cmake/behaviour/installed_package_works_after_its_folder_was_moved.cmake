# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
run(${CMAKE_COMMAND} --install "${KAGENT_BUILD}" --prefix "${WORK}/first")
file(RENAME "${WORK}/first" "${WORK}/moved prefix")
configure("-DCMAKE_PREFIX_PATH=${WORK}/moved prefix")
build()
file(STRINGS "${BUILD}/build.ninja" output REGEX "COMMAND = .* pick ")
expect_output("moved prefix/bin/kagent")
expect_baseline()
expect_nothing_to_do()
run("${WORK}/moved prefix/bin/kagent" --version)
# What is installed, and nothing else; what CUDA needs all together where kagent was built with it.
file(GLOB_RECURSE files RELATIVE "${WORK}/moved prefix" "${WORK}/moved prefix/*")
list(FILTER files EXCLUDE REGEX "^lib/cmake/KAgent/(KAgent[A-Za-z]*\\.cmake|(answer|kernel)\\.schema\\.json)$")
set(expected bin/kagent lib/kagent/libkagent_runner.a)
if(EXISTS "${KAGENT_BUILD}/libexec/kagent/kagent-cuda-runner")
  list(APPEND expected lib/kagent/libkagent_cuda_runner.a libexec/kagent/kagent-cuda-runner
    libexec/kagent/kagent-nvrtc-worker)
endif()
list(SORT expected)
expect_equal("${files}" "${expected}")
