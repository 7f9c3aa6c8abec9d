# SPDX-License-Identifier: Apache-2.0
# What kagent gives to other projects: targets in this build, the same package for find_package() in the build tree, and
# the rules that install it. Not a part of the package itself.
include_guard(GLOBAL)
include(CMakePackageConfigHelpers)

if(TARGET KAgent::kagent)
  message(FATAL_ERROR
    "kagent is added as a sub-project, but find_package(KAgent) has already found an installed one.\n"
    "  fix: use one of the two, or add the sub-project before find_package(KAgent)")
endif()
add_executable(KAgent::kagent ALIAS kagent)
add_library(KAgent::runtime ALIAS kagent_runtime)
include("${CMAKE_CURRENT_LIST_DIR}/KAgent.cmake")

# The build tree is laid out like an installation, so that kagent finds its runtime at ../lib/kagent/ in both and the
# build tree can be given as CMAKE_PREFIX_PATH. lib/ and not CMAKE_INSTALL_LIBDIR: the prefix may be moved as a whole.
set(prefix "${PROJECT_BINARY_DIR}")
if(CMAKE_CONFIGURATION_TYPES)
  string(APPEND prefix "/$<CONFIG>")
endif()
set_target_properties(kagent PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${prefix}/bin")
set_target_properties(kagent_runtime PROPERTIES
  ARCHIVE_OUTPUT_DIRECTORY "${prefix}/lib/kagent" OUTPUT_NAME kagent_runner)
if(TARGET kagent_nvrtc_worker)
  set_target_properties(kagent_nvrtc_worker PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${prefix}/libexec/kagent")
endif()

if(KAGENT_CUDA)
  set_target_properties(kagent_cuda_runtime PROPERTIES
    ARCHIVE_OUTPUT_DIRECTORY "${prefix}/lib/kagent" OUTPUT_NAME kagent_cuda_runner)
  set_target_properties(kagent_cuda_program PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${prefix}/libexec/kagent")
endif()

# What the program looks for beside itself is built with it, also where the whole is left out of "all".
foreach(part IN ITEMS kagent_cuda_runtime kagent_cuda_program kagent_nvrtc_worker)
  if(TARGET ${part})
    add_dependencies(kagent ${part})
  endif()
endforeach()

set(package "${PROJECT_BINARY_DIR}/lib/cmake/KAgent")
set(kagent_program bin/kagent)
set(kagent_runtime lib/kagent/libkagent_runner.a)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/KAgentConfig.cmake.in" "${package}/KAgentConfig.cmake"
  INSTALL_DESTINATION lib/cmake/KAgent PATH_VARS kagent_program kagent_runtime)
write_basic_package_version_file("${package}/KAgentConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
foreach(file IN ITEMS KAgent.cmake KAgentArguments.cmake KAgentCuda.cmake KAgentLevels.cmake KAgentRequest.cmake
                      KAgentRules.cmake answer.schema.json kernel.schema.json)
  configure_file("${CMAKE_CURRENT_LIST_DIR}/${file}" "${package}/${file}" COPYONLY)
endforeach()

if(KAGENT_INSTALL)
  install(TARGETS kagent kagent_runtime RUNTIME DESTINATION bin ARCHIVE DESTINATION lib/kagent)
  if(KAGENT_CUDA)
    install(TARGETS kagent_cuda_runtime ARCHIVE DESTINATION lib/kagent)
    install(TARGETS kagent_cuda_program RUNTIME DESTINATION libexec/kagent)
  endif()
  install(DIRECTORY "${package}" DESTINATION lib/cmake)
  if(TARGET kagent_nvrtc_worker)
    install(TARGETS kagent_nvrtc_worker RUNTIME DESTINATION libexec/kagent)
  endif()
endif()
