# SPDX-License-Identifier: Apache-2.0

# A fake of NVIDIA's driver library, another that is too old, and a program of launcher style for them.
foreach(driver IN ITEMS fake_driver old_fake_driver)
  add_library(kagent_${driver} SHARED fake_driver/cuda.cpp)
  set_target_properties(kagent_${driver} PROPERTIES OUTPUT_NAME cuda SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${driver})
  target_link_libraries(kagent_${driver} PRIVATE kagent_options)
  target_include_directories(kagent_${driver} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endforeach()
target_compile_definitions(kagent_fake_driver PRIVATE FAKE_DRIVER_VERSION=CUDA_VERSION)
target_compile_definitions(kagent_old_fake_driver PRIVATE FAKE_DRIVER_VERSION=11040)
kagent_test_candidate(fake_cuda ../fake_driver/candidate.cpp kagent_cuda_runtime)

# Fakes of CUPTI in a folder that only profiled processes see, and the same program for each: one as it should be, one
# that has no times.
foreach(trace IN ITEMS traced untimed)
  add_library(kagent_fake_cupti_${trace} SHARED fake_driver/cupti.cpp)
  set_target_properties(kagent_fake_cupti_${trace} PROPERTIES OUTPUT_NAME fake_cupti_${trace}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_cupti)
  target_link_libraries(kagent_fake_cupti_${trace} PRIVATE kagent_options Threads::Threads)
  target_include_directories(kagent_fake_cupti_${trace} PRIVATE ${PROJECT_SOURCE_DIR}/driver)
  target_include_directories(kagent_fake_cupti_${trace} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  kagent_test_candidate(fake_cuda_${trace} ../fake_driver/candidate.cpp kagent_cuda_runtime)
  # In the place of the archive's.
  target_sources(kagent_candidate_fake_cuda_${trace} PRIVATE
    ${PROJECT_SOURCE_DIR}/driver/runner/cuda_runtime/cupti_library.cpp)
  target_include_directories(kagent_candidate_fake_cuda_${trace} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_definitions(kagent_candidate_fake_cuda_${trace} PRIVATE
    KAGENT_CUPTI_FOLDER="${CMAKE_CURRENT_BINARY_DIR}/fake_cupti" KAGENT_CUPTI_NAME="libfake_cupti_${trace}.so")
  add_dependencies(kagent_candidate_fake_cuda_${trace} kagent_fake_cupti_${trace})
endforeach()
target_compile_definitions(kagent_fake_cupti_traced PRIVATE FAKE_CUPTI_END=5000)
target_compile_definitions(kagent_fake_cupti_untimed PRIVATE FAKE_CUPTI_END=0)

kagent_test(cuda_runner SOURCES activity_record_test.cpp cuda_runner_test.cpp cuda_session.cpp geometry_test.cpp
  sanitizer_test.cpp ${PROJECT_SOURCE_DIR}/driver/runner/cuda_runtime/activity_record.cpp LINKS kagent_runner)
target_include_directories(kagent_cuda_runner_tests SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
add_dependencies(kagent_cuda_runner_tests kagent_cuda_program kagent_fake_driver kagent_old_fake_driver
  kagent_candidate_fake_cuda kagent_candidate_fake_cuda_traced kagent_candidate_fake_cuda_untimed)
target_compile_definitions(kagent_cuda_runner_tests PRIVATE
  KAGENT_CANDIDATES="$<TARGET_FILE_DIR:kagent_candidate_plain>"
  KAGENT_KERNEL_RUNNER="$<TARGET_FILE:kagent_cuda_program>"
  KAGENT_FAKE_DRIVER="${CMAKE_CURRENT_BINARY_DIR}/fake_driver"
  KAGENT_OLD_FAKE_DRIVER="${CMAKE_CURRENT_BINARY_DIR}/old_fake_driver"
  KAGENT_FAKE_CANDIDATE="$<TARGET_FILE:kagent_candidate_fake_cuda>"
  KAGENT_FAKE_CUPTI="${CMAKE_CURRENT_BINARY_DIR}/fake_cupti"
  KAGENT_TRACED_CANDIDATE="$<TARGET_FILE:kagent_candidate_fake_cuda_traced>"
  KAGENT_UNTIMED_CANDIDATE="$<TARGET_FILE:kagent_candidate_fake_cuda_untimed>")

# Planted candidates for a real GPU, made by nvcc for the architectures that the tests are run on; others compile PTX.
set(architectures -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90
                  -gencode arch=compute_90,code=compute_90)
set(launcher ${CMAKE_CURRENT_BINARY_DIR}/kagent_cuda_launcher)
add_custom_command(OUTPUT ${launcher}
  COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -O1 ${architectures} -o ${launcher}
    ${CMAKE_CURRENT_SOURCE_DIR}/cuda/launcher.cu $<TARGET_FILE:kagent_cuda_runtime> -lpthread -ldl
  DEPENDS cuda/launcher.cu cuda/modes.h kagent_cuda_runtime
  COMMENT "Compiling planted candidates with nvcc" VERBATIM)
set(kernels ${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin)
add_custom_command(OUTPUT ${kernels}
  COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -O1 ${architectures} -fatbin -o ${kernels}
    ${CMAKE_CURRENT_SOURCE_DIR}/cuda/kernel.cu
  DEPENDS cuda/kernel.cu
  COMMENT "Compiling planted kernels with nvcc" VERBATIM)
kagent_gpu_test(runner SOURCES cuda_gpu_test.cpp trace_gpu_test.cpp cuda_session.cpp ${launcher} ${kernels}
  LINKS kagent_runner)
add_dependencies(kagent_runner_gpu_tests kagent_cuda_program)
target_compile_definitions(kagent_runner_gpu_tests PRIVATE
  KAGENT_CANDIDATES="${CMAKE_CURRENT_BINARY_DIR}"
  KAGENT_KERNEL_RUNNER="$<TARGET_FILE:kagent_cuda_program>"
  KAGENT_CUDA_LAUNCHER="${launcher}"
  KAGENT_CUDA_KERNELS="${kernels}")
