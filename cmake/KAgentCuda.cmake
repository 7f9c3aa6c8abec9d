# SPDX-License-Identifier: Apache-2.0
# What is different for kernels in CUDA: the architectures of a call, and how a level's object is compiled.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

function(_kagent_check_cuda)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CUDA" IN_LIST languages)
    _kagent_fail("SOURCE \"${arg_SOURCE}\" is CUDA, and this project does not have that language."
      "project(<name> LANGUAGES CXX CUDA), or enable_language(CUDA), before the target is made")
  endif()
  if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    _kagent_fail("the CUDA compiler is ${CMAKE_CUDA_COMPILER_ID} (${CMAKE_CUDA_COMPILER}), and kagent knows nvcc."
      "configure a new build folder with -DCMAKE_CUDA_COMPILER=<path of nvcc>")
  endif()
endfunction()

# The architectures that the target is compiled for, without "-real" and "-virtual", each once; and the one whose PTX a
# newer device would run, if it has any that one could.
function(_kagent_target_architectures result newest)
  get_target_property(value ${kagent_target} CUDA_ARCHITECTURES)
  set(named "the property CUDA_ARCHITECTURES of \"${kagent_target}\"")
  set(example "for example set(CMAKE_CUDA_ARCHITECTURES 80 90) before project() or enable_language(CUDA)")
  if(NOT value)
    _kagent_fail("${named} is empty or OFF, so kagent cannot know what the target is compiled for."
      "name the architectures there instead of in options: ${example}")
  endif()
  if(value STREQUAL "native")
    set(value "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
    if(NOT value)
      _kagent_fail("${named} is \"native\", and this machine has no GPU that CMake found." "name them: ${example}")
    endif()
  endif()
  set(${newest} "" PARENT_SCOPE)
  if(value MATCHES "^all(-major)?$")
    set(${result} "${value}" PARENT_SCOPE)
    return()
  endif()
  set(found "")
  set(highest 0)
  foreach(one IN LISTS value)
    if(NOT one MATCHES "^([0-9]+)([af]?)(-real|-virtual)?$")
      _kagent_fail("${named} has \"${one}\", which kagent does not know." "write numbers: ${example}")
    endif()
    list(APPEND found "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    # Code for sm_90a, say, runs on no other device.
    if(CMAKE_MATCH_2 STREQUAL "" AND CMAKE_MATCH_1 GREATER highest)
      set(highest ${CMAKE_MATCH_1})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES found)
  set(${result} "${found}" PARENT_SCOPE)
  if(highest GREATER 0)
    set(${newest} ${highest} PARENT_SCOPE)
  endif()
endfunction()

# kagent_levels and kagent_main, as for C++, and kagent_newest: whose PTX the baseline gets beside a dispatcher. An
# architecture that is the target's only one needs no dispatcher.
function(_kagent_resolve_cuda_levels)
  _kagent_setting(ARCHITECTURES)
  _kagent_target_architectures(own newest)
  set(kagent_newest "${newest}" PARENT_SCOPE)
  # What the variable names for kernels in C++; anything else in it is meant for these, or wrong.
  if(NOT DEFINED arg_ARCHITECTURES)
    list(FILTER value EXCLUDE REGEX "^(x86-64(-v[234])?|native)$")
  endif()
  set(wanted "")
  if(value STREQUAL "")
    if(own MATCHES "^all")
      string(CONCAT problem
        "the property CUDA_ARCHITECTURES of \"${kagent_target}\" is \"${own}\", and each of its architectures "
        "would have to be tuned.")
      _kagent_fail("${problem}" "name those that matter: ARCHITECTURES 80 90")
    endif()
    set(wanted "${own}")
    set(origin "CUDA_ARCHITECTURES of \"${kagent_target}\"")
  endif()
  foreach(architecture IN LISTS value)
    if(NOT architecture MATCHES "^(sm_)?([0-9]+[af]?)$")
      _kagent_fail("${origin} \"${architecture}\" is not a CUDA architecture, and \"${arg_SOURCE}\" is CUDA."
        "write 80, 90, 90a or sm_90; or leave ARCHITECTURES out for those of the target")
    endif()
    list(APPEND wanted "${CMAKE_MATCH_2}")
  endforeach()
  list(REMOVE_DUPLICATES wanted)
  list(SORT wanted COMPARE NATURAL)
  _kagent_check_cuda_architectures("${wanted}")

  set(kagent_levels "" PARENT_SCOPE)
  if(wanted STREQUAL own)
    list(LENGTH wanted count)
    if(count EQUAL 1)
      set(kagent_main sm_${wanted} PARENT_SCOPE)
      return()
    endif()
  endif()
  list(TRANSFORM wanted PREPEND sm_)
  set(kagent_levels "${wanted}" PARENT_SCOPE)
  set(kagent_main dispatch PARENT_SCOPE)
endfunction()

# Each has to be a device of its own, and one that this nvcc compiles for.
function(_kagent_check_cuda_architectures architectures)
  set(numbers "")
  foreach(architecture IN LISTS architectures)
    string(REGEX REPLACE "[af]$" "" number ${architecture})
    if(number IN_LIST numbers)
      _kagent_fail("${origin} names ${number} twice, as ${number} and for that device alone (${architecture})."
        "ARCHITECTURES with one of the two")
    endif()
    list(APPEND numbers ${number})
  endforeach()
  get_property(known GLOBAL PROPERTY KAGENT_NVCC_ARCHITECTURES)
  if(NOT known)
    execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-code
      OUTPUT_VARIABLE known ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCHALL "[0-9]+" known "${known}")
    set_property(GLOBAL PROPERTY KAGENT_NVCC_ARCHITECTURES "${known}")
  endif()
  foreach(number IN LISTS numbers)
    if(known AND NOT number IN_LIST known)
      list(JOIN known ", " known)
      _kagent_fail("${origin} has ${number}, and nvcc ${CMAKE_CUDA_COMPILER_VERSION} does not compile for it."
        "it compiles for ${known}")
    endif()
  endforeach()
endfunction()

# What the source's own folder is to #include "...", for nvcc. It hands the words of -Xcompiler to a shell and cannot
# be told to leave some characters alone; such a folder is searched like any other.
function(_kagent_cuda_include_option folder result)
  if(folder MATCHES "[$`\"'\\\\]")
    set(${result} "-I${folder}" PARENT_SCOPE)
  elseif(folder MATCHES "^[A-Za-z0-9_./+-]+$")
    set(${result} "-Xcompiler=-iquote,${folder}" PARENT_SCOPE)
  else()
    set(${result} "-Xcompiler=-iquote,\"${folder}\"" PARENT_SCOPE)
  endif()
endfunction()

# The baseline serves every other device, newer ones through PTX.
function(_kagent_finish_cuda_dispatcher)
  if(kagent_newest)
    set_property(SOURCE "${kagent_generated}" TARGET_DIRECTORY ${kagent_target} APPEND PROPERTY
      COMPILE_OPTIONS "--generate-code=arch=compute_${kagent_newest},code=[compute_${kagent_newest}]")
  endif()
endfunction()

# The target's architectures decided what was made; they may not change behind the call.
function(_kagent_check_unchanged_architectures)
  get_property(before GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_architectures)
  get_target_property(now ${kagent_target} CUDA_ARCHITECTURES)
  if(NOT now STREQUAL before)
    _kagent_fail("CUDA_ARCHITECTURES of \"${kagent_target}\" was \"${before}\" at the call and is \"${now}\" now."
      "set it before kagent_optimize_kernel(${kagent_kernel} ...)")
  endif()
endfunction()

# The options with which a level's object holds code for its own architecture only and can be isolated: whole-program
# device code, since device symbols cannot be hidden, and host code as for C++.
function(_kagent_cuda_level_options level object result)
  string(REGEX REPLACE "^sm_" "" number ${level})
  set_target_properties(${object} PROPERTIES CUDA_ARCHITECTURES ${number}-real CUDA_SEPARABLE_COMPILATION OFF)
  set(options -rdc=false -w -Xcompiler=-fno-lto)
  _kagent_cuda_host_is_gnu(gnu)
  if(gnu)
    list(APPEND options -Xcompiler=-fno-gnu-unique)
  endif()
  set(${result} "${options}" PARENT_SCOPE)
endfunction()

# Whether the host compiler that nvcc calls makes symbols that are unique in the whole process, and can be told not to.
# CMake 3.25 does not say which compiler it is; the host code is linked by it.
function(_kagent_cuda_host_is_gnu result)
  get_property(known GLOBAL PROPERTY KAGENT_CUDA_HOST_IS_GNU)
  if("${known}" STREQUAL "")
    set(known ON)
    if(CMAKE_CUDA_HOST_LINK_LAUNCHER)
      execute_process(COMMAND "${CMAKE_CUDA_HOST_LINK_LAUNCHER}" --version OUTPUT_VARIABLE version ERROR_QUIET)
      if(version MATCHES "clang")
        set(known OFF)
      endif()
    endif()
    set_property(GLOBAL PROPERTY KAGENT_CUDA_HOST_IS_GNU ${known})
  endif()
  set(${result} ${known} PARENT_SCOPE)
endfunction()

# kagent_style: of the spec. What is wrong with kernel.json is for `kagent pick` to say, with the place in the file.
function(_kagent_read_style)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${kagent_golden}/kernel.json")
  file(READ "${kagent_golden}/kernel.json" spec)
  string(JSON style ERROR_VARIABLE problem GET "${spec}" style)
  set(kagent_style "${style}" PARENT_SCOPE)
endfunction()

# Where callers of a kernel of style "kernel" find <kernel>_launch.h: written by picking, which comes before everything
# that is compiled for this target or for one that links it.
function(_kagent_add_launcher_folder)
  set(folder "${CMAKE_BINARY_DIR}/kagent/${kagent_target}/include")
  file(MAKE_DIRECTORY "${folder}")
  target_include_directories(${kagent_target} PUBLIC "$<BUILD_INTERFACE:${folder}>")
endfunction()
