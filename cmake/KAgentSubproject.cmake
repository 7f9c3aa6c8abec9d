# SPDX-License-Identifier: Apache-2.0
# kagent as a part of another project's build (add_subdirectory, FetchContent): it is a tool, so it is built like one.
# What the project asks of its own code (warnings, linters, -ffast-math, sanitizers, no exceptions, unity builds,
# output folders) does not apply here. Included in kagent's own scope, so the project keeps its settings.
if(CMAKE_CROSSCOMPILING)
  message(FATAL_ERROR
    "kagent runs on the machine that builds, and this build is for another one.\n"
    "  fix: install kagent on this machine and use find_package(KAgent) with -DKAgent_DIR=<prefix>/lib/cmake/KAgent")
endif()
set_directory_properties(PROPERTIES
  COMPILE_OPTIONS "-O2;-w" COMPILE_DEFINITIONS "" INCLUDE_DIRECTORIES "" LINK_OPTIONS "" LINK_LIBRARIES ""
  LINK_DIRECTORIES "")
foreach(kind IN ITEMS CXX_FLAGS EXE_LINKER_FLAGS STATIC_LINKER_FLAGS)
  set(CMAKE_${kind} "")
  foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER ${config} config)
    set(CMAKE_${kind}_${config} "")
  endforeach()
endforeach()
foreach(setting IN ITEMS
    CXX_CLANG_TIDY CXX_CPPCHECK CXX_CPPLINT CXX_INCLUDE_WHAT_YOU_USE LINK_WHAT_YOU_USE COMPILE_WARNING_AS_ERROR
    INTERPROCEDURAL_OPTIMIZATION UNITY_BUILD AUTOMOC AUTOUIC AUTORCC EXPORT_COMPILE_COMMANDS
    DEBUG_POSTFIX
    RUNTIME_OUTPUT_DIRECTORY ARCHIVE_OUTPUT_DIRECTORY LIBRARY_OUTPUT_DIRECTORY)
  set(CMAKE_${setting} "")
endforeach()
set(CMAKE_CXX_VISIBILITY_PRESET default)
