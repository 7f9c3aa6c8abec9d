# SPDX-License-Identifier: Apache-2.0
# Everything that can be said about a target and a source: appended to a project after its call.
target_compile_options(ops PRIVATE
  $<$<COMPILE_LANGUAGE:CXX>:-funroll-loops> "SHELL:-include cstddef" $<$<CONFIG:Debug>:-g3>)
target_compile_definitions(ops PRIVATE FROM_TARGET=1 "TEXT=\"a b\"" PUBLIC $<$<NOT:$<CONFIG:Debug>>:FAST>)
target_include_directories(ops PRIVATE include SYSTEM PRIVATE system)
set_target_properties(ops PROPERTIES CXX_STANDARD 17 CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON COMPILE_FLAGS "-fno-ident -fno-plt")
add_library(base INTERFACE)
target_compile_definitions(base INTERFACE FROM_DEPENDENCY)
target_include_directories(base INTERFACE base)
target_link_libraries(ops PRIVATE base)
set_source_files_properties(kernels/scale.cpp PROPERTIES COMPILE_OPTIONS "-fno-math-errno;-fno-trapping-math"
  COMPILE_DEFINITIONS FROM_SOURCE=2 COMPILE_FLAGS -fno-signed-zeros INCLUDE_DIRECTORIES /opt/source)
set_property(SOURCE kernels/scale.cpp PROPERTY COMPILE_DEFINITIONS_RELEASE ONLY_RELEASE)
add_compile_definitions(TOO_LATE_FOR_TARGETS)
