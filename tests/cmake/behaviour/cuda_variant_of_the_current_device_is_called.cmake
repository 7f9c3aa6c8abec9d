# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
# labels: gpu
use_cuda_template()
use_gpu()
set(other 80)
if(GPU EQUAL 80)
  set(other 90)
endif()

# The kernel's first result tells which code ran: the factor, and what its own constant and variable hold.
write(main.cu [[
#include <cstdio>
void scale(const float* x, float* y, int n, cudaStream_t stream);
int main() {
  float *x = nullptr, *y = nullptr;
  cudaMallocManaged(&x, sizeof(float));
  cudaMallocManaged(&y, sizeof(float));
  *x = 2;
  for (int i = 0; i < 2; ++i) scale(x, y, 1, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s %g\n", cudaGetErrorName(error), error == cudaSuccess ? *y : 0.0f);
}
]])
replace(CMakeLists.txt "CMAKE_CUDA_ARCHITECTURES 90" "CMAKE_CUDA_ARCHITECTURES ${GPU}")
replace(CMakeLists.txt "add_executable(app main.cpp)" "add_executable(app main.cu)")
set(plain "SOURCE kernels/scale.cu GOLDEN golden/scale ARCHITECTURES ${GPU} ${other}")
call("scale TARGET ops ${plain}" "add_library(a_shared SHARED ops.cpp kernels/scale.cu)
set_target_properties(a_shared PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
kagent_optimize_kernel(scale TARGET a_shared ${plain})
add_executable(of_shared main.cu)
target_link_libraries(of_shared a_shared)")
configure()
build()
foreach(program IN ITEMS app of_shared)
  expect_program("cudaSuccess 6" ${program})
endforeach()

file_variant(scale sm_${GPU} "kFactor * value" "50 * value")
file_variant(scale sm_${other} "kFactor * value" "70 * value")
build()
foreach(program IN ITEMS app of_shared)
  expect_program("cudaSuccess 100" ${program})
endforeach()

file(REMOVE_RECURSE "${PROJECT}/variants/scale/sm_${GPU}")
build()
foreach(program IN ITEMS app of_shared)
  expect_program("cudaSuccess 6" ${program})
endforeach()
expect_nothing_to_do()
