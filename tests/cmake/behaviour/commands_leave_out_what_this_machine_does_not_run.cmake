# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_cuda_template()
write(kernels/twice.cpp [[
#ifndef PASSES
#define PASSES 1
#endif
void twice(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
]])
write(golden/twice/kernel.json [[{
  "kernel": "twice", "entry": "twice",
  "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["n"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}
  ],
  "cases": [{"name": "usual", "sizes": {"n": 5000}, "timed": true}],
  "stress": {"skip": ["largest-finite"], "why": "twice as much does not fit"}
}
]])
replace(CMakeLists.txt "kernels/scale.cu)" "kernels/scale.cu kernels/twice.cpp)")
call("scale TARGET ops SOURCE kernels/scale.cu GOLDEN golden/scale ARCHITECTURES 80 90"
  "kagent_optimize_kernel(twice TARGET ops SOURCE kernels/twice.cpp GOLDEN golden/twice)")
configure(-DKAGENT_TUNE=MISSING)

# A build says it once, and not once an architecture.
build(--target kagent-pick-ops)
expect_output("kagent: scale (ops, sm_80, sm_90) is not tuned: ")
string(REGEX MATCHALL "scale \\([^\n]* is not tuned: " said "${output}")
list(LENGTH said count)
expect_equal(${count} 1)

set(kagent "${KAGENT_BUILD}/bin/kagent")
run("${kagent}" verify --build "${BUILD}")
expect_output("kagent: scale (ops, sm_80) is not checked: ")
expect_output("kagent: scale (ops, sm_90) is not checked: ")
expect_output("twice (ops, ")
expect_output(": baseline: passed, ")

# What is asked for by name and cannot be had is wrong use, with the fix.
foreach(words IN ITEMS "verify;checked" "bench;measured" "optimize;tuned")
  list(POP_FRONT words command)
  _run("${kagent}" ${command} scale --build "${BUILD}")
  expect_equal("${status}" 2)
  expect_output("kagent: scale (ops, sm_90) is not ${words}: ")
  expect_output("kagent: nothing was ${words}\n  fix: ")
endforeach()

# An error of one kernel is told, and the next has its turn.
write(golden/scale/kernel.json "{")
_run("${kagent}" verify --build "${BUILD}")
expect_equal("${status}" 2)
expect_output("golden/scale/kernel.json")
expect_output(": baseline: passed, ")
