# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_cuda_template()
# In place of a device: answers for the run time's two questions, and what was launched.
write(fake_device.cpp [[
#include <cstdio>
#include <cstdlib>
struct Extent { unsigned x, y, z; };
static int number(const char* name) { return std::atoi(std::getenv(name)); }
extern "C" {
int cudaGetDevice(int* device) { return *device = number("FAKE_DEVICE"), 0; }
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = number("FAKE_CAPABILITY");
  return *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 0, 0;
}
int cudaLaunchKernel(const void*, Extent, Extent block, void**, std::size_t, void*) {
  return std::printf("%u threads, ", block.x), 0;
}
// Since CUDA 13 launches take another way.
int __cudaGetKernel(const void** kernel, const void* function) { return *kernel = function, 0; }
int __cudaLaunchKernel(const void* kernel, Extent grid, Extent block, void** values, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, values, shared, stream);
}
}
]])
run(${COMPILER} -shared -fPIC -w fake_device.cpp -o "${WORK}/libfake_device.so")

call("scale TARGET ops SOURCE kernels/scale.cu GOLDEN golden/scale ARCHITECTURES 80 90" [[
set_target_properties(ops PROPERTIES CUDA_RUNTIME_LIBRARY Shared CUDA_STANDARD 17 CUDA_EXTENSIONS OFF
  COMPILE_FLAGS "-lineinfo -DFROM_FLAGS=1")
target_compile_options(ops PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--maxrregcount=64>
  "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler -fno-math-errno>")
target_compile_definitions(ops PRIVATE "TEXT=\"a b\"" $<$<CONFIG:Release>:FAST>)
set_source_files_properties(kernels/scale.cu PROPERTIES COMPILE_OPTIONS -use_fast_math)]])
file(APPEND "${PROJECT}/CMakeLists.txt" "set_target_properties(app PROPERTIES CUDA_RUNTIME_LIBRARY Shared)\n")
configure()
compile_command(kagent/ops/scale/scale.cu main)
compile_command(kagent/ops/scale/sm_90/scale.cu got)
# An object of its own for one architecture, whatever kind of target it is for.
foreach(text IN ITEMS " --generate-code=arch=compute_90,code=[compute_90]" " -Xcompiler=-fPIC")
  string(REPLACE "${text}" "" main "${main}")
  string(REPLACE "${text}" "" got "${got}")
endforeach()
foreach(command IN ITEMS main got)
  string(REGEX REPLACE " -c [^ ]+ -o [^ ]+$" "" ${command} "${${command}}")
endforeach()
string(REPLACE "code=[compute_90,sm_90]" "code=[sm_90]" main "${main}")
string(REPLACE " -x cu" " -rdc=false -w -Xcompiler=-fno-lto -Xcompiler=-fno-gnu-unique -x cu" main "${main}")
expect_equal("${got}" "${main}")

file_variant(scale sm_80 "BLOCK 64" "BLOCK 128")
file_variant(scale sm_90 "BLOCK 64" "BLOCK 256")
build()
function(expect_launch device capability threads)
  run(${CMAKE_COMMAND} -E env FAKE_DEVICE=${device} FAKE_CAPABILITY=${capability}
    "LD_PRELOAD=${WORK}/libfake_device.so" "${BUILD}/app")
  expect_equal("${output}" "${threads} threads, block of 64\n")
endfunction()
expect_launch(0 80 128)
expect_launch(0 90 256)
# Its number is beyond those that a choice is kept for.
expect_launch(1000 90 256)
# What belongs to the same generation is another architecture all the same.
foreach(other IN ITEMS 75 86 100 121)
  expect_launch(0 ${other} 64)
endforeach()

file(REMOVE_RECURSE "${PROJECT}/variants/scale/sm_90")
build()
expect_launch(0 90 64)
expect_launch(0 80 128)
expect_nothing_to_do()
