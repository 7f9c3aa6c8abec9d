# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_cuda_template()
write(kernels/shift.cu [[
#include "tile.h"

#ifndef BLOCK
#define BLOCK 64
#endif

namespace moving {

__global__ void shift(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = x[i] + kFactor;
}

}  // namespace moving
]])
write(golden/shift/kernel.json [[{
  "kernel": "shift", "style": "kernel", "entry": "moving::shift",
  "launch": {"grid": ["ceil_div(n, BLOCK)"], "block": ["BLOCK"]},
  "parameters": [
    {"name": "x", "kind": "input", "dtype": "float32", "shape": ["n"]},
    {"name": "y", "kind": "output", "dtype": "float32", "shape": ["n"]},
    {"name": "n", "kind": "size", "dtype": "int32"}
  ],
  "cases": [{"name": "usual", "sizes": {"n": 20000}, "timed": true}],
  "reference": {"source": "reference.cpp", "function": "shift_reference"},
  "tunables": {"BLOCK": [64, 128]}
}
]])
write(golden/shift/reference.cpp "void shift_reference(const double* x, double* y, int n);\n")
# What calls it: a source of the target itself, and one that only links it.
replace(CMakeLists.txt "find_package(KAgent CONFIG REQUIRED)" [[
find_package(KAgent CONFIG REQUIRED)
find_package(CUDAToolkit REQUIRED)]])
replace(CMakeLists.txt "add_library(ops ops.cpp kernels/scale.cu)" [[
add_library(ops ops.cpp kernels/shift.cu)
target_include_directories(ops PUBLIC ${CUDAToolkit_INCLUDE_DIRS})]])
set(source [[
#include "shift_launch.h"
int NAME() { return moving::shift_launch(nullptr, nullptr, nullptr, 4) != cudaSuccess; }
]])
string(REPLACE NAME ops text "${source}")
write(ops.cpp "${text}")
string(REPLACE NAME other text "${source}")
string(APPEND text [[
#include <cstdio>
int ops();
int main() { std::printf("%d %d failed\n", ops(), other()); }
]])
write(main.cpp "${text}")
call("shift TARGET ops SOURCE kernels/shift.cu GOLDEN golden/shift")
configure()
build()
expect_compiled(main.cpp ops.cpp shift.cu)
expect_symbol(app "T moving::shift_launch(CUstream_st*, float const*, float*, int)")
# Without a device the launch says so.
expect_program("1 1 failed")
expect_nothing_to_do()

# The header is the same, so its users are left alone.
file_variant(shift sm_90 "BLOCK 64" "BLOCK 128")
build()
expect_compiled(shift.cu)
expect_nothing_to_do()

# Another declaration of the same function: its users are compiled in the same build.
foreach(name IN ITEMS length n)
  file(READ "${PROJECT}/golden/shift/kernel.json" text)
  string(REGEX REPLACE "\"(n|length)\"" "\"${name}\"" text "${text}")
  string(REGEX REPLACE "ceil_div\\([a-z]+" "ceil_div(${name}" text "${text}")
  write(golden/shift/kernel.json "${text}")
  build()
  expect_compiled(main.cpp ops.cpp shift.cu)
  expect_nothing_to_do()
endforeach()

# Clusters came with sm_90: a launch that every device refuses is not built.
file(READ "${PROJECT}/golden/shift/kernel.json" without)
string(REPLACE "\"block\":" "\"cluster\": [2], \"block\":" text "${without}")
write(golden/shift/kernel.json "${text}")
# Beside it, a source that begins as some editors have it.
file(READ "${PROJECT}/kernels/shift.cu" source)
string(ASCII 239 187 191 byte_order_mark)
write(kernels/shift.cu "${byte_order_mark}${source}")
build()
expect_compiled(shift.cu)
write(kernels/shift.cu "${source}")
call("shift TARGET ops SOURCE kernels/shift.cu GOLDEN golden/shift ARCHITECTURES 80 90")
configure()
_run(${CMAKE_COMMAND} --build "${BUILD}")
if(status EQUAL 0)
  _fail("a cluster was built for sm_80")
endif()
expect_output("kernel.json: /launch/cluster: 2 blocks in a cluster, and sm_80 has no clusters")
write(golden/shift/kernel.json "${without}")

# The same variant beside a dispatcher.
call("shift TARGET ops SOURCE kernels/shift.cu GOLDEN golden/shift ARCHITECTURES 80 90")
configure()
build()
expect_output("kagent: shift (ops, sm_80): baseline")
expect_output("kagent: shift (ops, sm_90): variants/shift/sm_90, 2.00x")
expect_symbol(app "i moving::shift_launch(CUstream_st*, float const*, float*, int)")
expect_symbol(app "T kagent_ops_shift_sm_90")
expect_device_code("${BUILD}/kagent/ops/shift/sm_90/shift.o" sm_90)
expect_program("1 1 failed")
expect_nothing_to_do()
