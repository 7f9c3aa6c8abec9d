# SPDX-License-Identifier: Apache-2.0
use_cuda_template()
# One build folder, since looking for the compiler is what takes time.
set(plain "scale TARGET ops SOURCE kernels/scale.cu GOLDEN golden/scale")

call("${plain} ARCHITECTURES x86-64-v3")
expect_wrong_use([[ARCHITECTURES "x86-64-v3" is not a CUDA architecture]] [[write 80, 90, 90a or sm_90]])
call("${plain} ARCHITECTURES 90-real")
expect_wrong_use([[ARCHITECTURES "90-real" is not a CUDA architecture]])
call("${plain} ARCHITECTURES 90 90a")
expect_wrong_use([[ARCHITECTURES names 90 twice, as 90 and for that device alone (90a)]])
call("${plain}" "set(KAGENT_ARCHITECTURES x86-64-v3 \"80 90\")")
expect_wrong_use([[KAGENT_ARCHITECTURES "80 90" is not a CUDA architecture]])
replace(CMakeLists.txt "set(KAGENT_ARCHITECTURES x86-64-v3 \"80 90\")" "")
call("${plain} ARCHITECTURES 80 12")
expect_wrong_use([[ARCHITECTURES has 12, and nvcc]] [[it compiles for]])

call("${plain}" "set_target_properties(ops PROPERTIES CUDA_ARCHITECTURES OFF)")
expect_wrong_use([[CUDA_ARCHITECTURES of "ops" is empty or OFF]] [[set(CMAKE_CUDA_ARCHITECTURES 80 90)]])
replace(CMakeLists.txt "CUDA_ARCHITECTURES OFF" "CUDA_ARCHITECTURES all-major")
expect_wrong_use([[CUDA_ARCHITECTURES of "ops" is "all-major"]] [[ARCHITECTURES 80 90]])
replace(CMakeLists.txt "CUDA_ARCHITECTURES all-major" "CUDA_ARCHITECTURES native")
# With a GPU that CMake finds, "native" is as good as its number.
file(READ "${BUILD}/CMakeFiles/${CMAKE_VERSION}/CMakeCUDACompiler.cmake" compiler)
if(compiler MATCHES "CMAKE_CUDA_ARCHITECTURES_NATIVE \"\"")
  expect_wrong_use([[is "native", and this machine has no GPU that CMake found]])
endif()

replace(CMakeLists.txt "set_target_properties(ops PROPERTIES CUDA_ARCHITECTURES native)" "")
file(APPEND "${PROJECT}/CMakeLists.txt" "set_target_properties(ops PROPERTIES CUDA_ARCHITECTURES 80)\n")
expect_wrong_use([[CUDA_ARCHITECTURES of "ops" was "90" at the call and is "80" now]])
