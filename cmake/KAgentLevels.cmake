# SPDX-License-Identifier: Apache-2.0
# One object for each given level: compiled for it alone (-march, or one CUDA architecture), then made to share nothing
# with the rest of the program by `kagent isolate`. Inline functions compiled for a higher level are then never called
# below it, and functions and data of the same name in several variants stay apart.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

function(_kagent_add_level level)
  set(object "kagent-object-${kagent_kernel}-${kagent_target}-${level}")
  set(generated "${kagent_generated_${level}}")
  add_library(${object} OBJECT "${generated}")
  _kagent_mark_generated("${generated}" ${object})
  add_dependencies(${object} ${kagent_pick})

  # The configuration's name is part of the path, since its object differs.
  set(isolated "${kagent_folder}/${level}/${kagent_kernel}${CMAKE_CXX_OUTPUT_EXTENSION}")
  set(paths "${isolated}")
  if(CMAKE_CONFIGURATION_TYPES)
    set(isolated "${kagent_folder}/${level}/$<CONFIG>/${kagent_kernel}${CMAKE_CXX_OUTPUT_EXTENSION}")
    list(TRANSFORM CMAKE_CONFIGURATION_TYPES PREPEND "${kagent_folder}/${level}/" OUTPUT_VARIABLE paths)
    list(TRANSFORM paths APPEND "/${kagent_kernel}${CMAKE_CXX_OUTPUT_EXTENSION}")
  endif()
  foreach(path IN LISTS paths)
    cmake_path(GET path PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
  endforeach()
  add_custom_command(
    OUTPUT "${isolated}"
    COMMAND KAgent::kagent isolate --request "${kagent_request}" --architecture ${level}
      --object "$<TARGET_OBJECTS:${object}>" --output "${isolated}"
    DEPENDS KAgent::kagent "$<TARGET_OBJECTS:${object}>"
    COMMENT "Isolating ${kagent_kernel} for ${level}"
    VERBATIM)
  _kagent_owner(isolate isolate)
  set_property(TARGET ${isolate} APPEND PROPERTY SOURCES "${isolated}")
  add_dependencies(${isolate} ${object})
  # Built with the target, which may be left out of "all" itself.
  set_target_properties(${object} PROPERTIES FOLDER kagent EXCLUDE_FROM_ALL ON)

  set_property(TARGET ${kagent_target} APPEND PROPERTY SOURCES "${isolated}")
  set_source_files_properties(${paths} TARGET_DIRECTORY ${kagent_target} PROPERTIES
    GENERATED ON EXTERNAL_OBJECT ON)
  # What links an object library gets the objects of its sources, and no others. As a file to be linked and not as one
  # more source: that a source is made by the build is not known in other directories under older policies.
  get_target_property(type ${kagent_target} TYPE)
  if(type STREQUAL "OBJECT_LIBRARY")
    set_property(TARGET ${kagent_target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES "$<BUILD_INTERFACE:${isolated}>")
  endif()
endfunction()

# Compiles the level as the target compiles its sources: called when nothing about the target changes any more.
function(_kagent_finish_level level)
  set(object "kagent-object-${kagent_kernel}-${kagent_target}-${level}")
  cmake_path(GET kagent_source FILENAME name)
  set(generated "${kagent_folder}/${level}/${name}")
  _kagent_copy_source_properties("${kagent_source}" "${generated}" ${kagent_target} ${object})

  set(language CXX)
  if(kagent_language STREQUAL "cuda")
    set(language CUDA)
  endif()
  # What of a target belongs to its directory.
  get_target_property(object_folder ${object} SOURCE_DIR)
  get_target_property(target_folder ${kagent_target} SOURCE_DIR)
  foreach(config IN ITEMS "" LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    set(name CMAKE_${language}_FLAGS)
    if(config)
      string(TOUPPER "_${config}" config)
      string(APPEND name "${config}")
    endif()
    get_directory_property(object_flags DIRECTORY "${object_folder}" DEFINITION ${name})
    get_directory_property(target_flags DIRECTORY "${target_folder}" DEFINITION ${name})
    if(NOT object_flags STREQUAL target_flags)
      _kagent_fail("${name} is \"${target_flags}\" in ${target_folder} and \"${object_flags}\" in ${object_folder}."
        "make the call in ${target_folder}, or use target_compile_options() instead")
    endif()
  endforeach()

  # Evaluated for the level's object, by CMake itself: generator expressions on language and configuration hold.
  foreach(name IN ITEMS COMPILE_OPTIONS COMPILE_DEFINITIONS INCLUDE_DIRECTORIES COMPILE_FEATURES)
    set_property(TARGET ${object} PROPERTY ${name} "$<TARGET_PROPERTY:${kagent_target},${name}>")
  endforeach()
  target_include_directories(${object} SYSTEM PRIVATE "$<TARGET_PROPERTY:${kagent_target},SYSTEM_INCLUDE_DIRECTORIES>")
  foreach(name IN ITEMS ${language}_STANDARD ${language}_STANDARD_REQUIRED ${language}_EXTENSIONS COMPILE_FLAGS
                        ${language}_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN NO_SYSTEM_FROM_IMPORTED)
    get_property(is_set TARGET ${kagent_target} PROPERTY ${name} SET)
    if(is_set)
      get_target_property(value ${kagent_target} ${name})
      set_property(TARGET ${object} PROPERTY ${name} "${value}")
    endif()
  endforeach()
  get_target_property(type ${kagent_target} TYPE)
  if(type MATCHES "^(SHARED|MODULE)_LIBRARY$")
    get_target_property(symbol ${kagent_target} DEFINE_SYMBOL)
    if(NOT symbol)
      string(MAKE_C_IDENTIFIER "${kagent_target}_EXPORTS" symbol)
    endif()
    target_compile_definitions(${object} PRIVATE ${symbol})
  endif()

  # What isolation needs: machine code (no link-time optimisation), position independent for every kind of target,
  # and no symbol that is unique in the whole process. Source options come last, so -march wins over the target's.
  # The baseline is compiled with the target's warnings; system headers are not marked as such here, so -w.
  set_target_properties(${object} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF
    DISABLE_PRECOMPILE_HEADERS ON UNITY_BUILD OFF EXPORT_COMPILE_COMMANDS ON)
  foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER ${config} config)
    set_property(TARGET ${object} PROPERTY INTERPROCEDURAL_OPTIMIZATION_${config} OFF)
  endforeach()
  if(language STREQUAL "CUDA")
    _kagent_cuda_level_options(${level} ${object} options)
  else()
    set(options -march=${level} -w -fno-lto)
    _kagent_precompiled_text(include_headers)
    list(APPEND options "${include_headers}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND options -fno-gnu-unique)
    endif()
  endif()
  set_property(SOURCE "${generated}" TARGET_DIRECTORY ${object} APPEND PROPERTY COMPILE_OPTIONS "${options}")
endfunction()

# The options that give a level what the target's precompiled headers declare. Their compiled form serves one set of
# flags only, so it is the text that is included: through a file of ours, beside which no compiled form is looked for.
function(_kagent_precompiled_text result)
  set(${result} "" PARENT_SCOPE)
  get_property(skipped SOURCE "${kagent_source}" TARGET_DIRECTORY ${kagent_target} PROPERTY SKIP_PRECOMPILE_HEADERS)
  get_target_property(disabled ${kagent_target} DISABLE_PRECOMPILE_HEADERS)
  if(skipped OR disabled)
    return()
  endif()
  set(owner ${kagent_target})
  get_target_property(reused ${kagent_target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(reused)
    set(owner ${reused})
  endif()
  get_target_property(folder ${owner} BINARY_DIR)
  string(APPEND folder "/CMakeFiles/${owner}.dir")
  # CMake writes cmake_pch.hxx; kagent knows by the start of the name that the file is no header of the project.
  set(name cmake_pch.kagent.hxx)
  set(files "${folder}/${name}")
  set(file "${folder}/${name}")
  if(CMAKE_CONFIGURATION_TYPES)
    set(file "${folder}/$<CONFIG>/${name}")
    list(TRANSFORM CMAKE_CONFIGURATION_TYPES REPLACE "^.+$" "${folder}/\\0/${name}" OUTPUT_VARIABLE files)
  endif()
  foreach(each IN LISTS files)
    _kagent_write_if_different("${each}" "#include \"cmake_pch.hxx\"\n")
  endforeach()
  # Also those that come from what the target links: asked for once, since a second time CMake gives an empty answer.
  set(${result} "$<$<BOOL:$<TARGET_PROPERTY:${owner},PRECOMPILE_HEADERS>>:-include;${file}>" PARENT_SCOPE)
endfunction()
