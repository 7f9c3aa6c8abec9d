# SPDX-License-Identifier: Apache-2.0
# How a call changes the build: the generated source, the rule that picks its contents, the targets for people.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# Puts the generated file where the source was, in this target only.
function(_kagent_replace_source)
  get_target_property(sources ${kagent_target} SOURCES)
  set(replaced "")
  foreach(entry IN LISTS sources)
    if(entry STREQUAL kagent_source_entry)
      list(APPEND replaced "${kagent_generated}")
    else()
      list(APPEND replaced "${entry}")
    endif()
  endforeach()
  set_property(TARGET ${kagent_target} PROPERTY SOURCES "${replaced}")
  # The contents of compile_commands.json: candidates are compiled with the command of the generated file.
  set_property(TARGET ${kagent_target} PROPERTY EXPORT_COMPILE_COMMANDS ON)
  _kagent_mark_generated("${kagent_generated}" ${kagent_target})

  # Properties of the source may be set after the call. The top-level directory is the last one to be read, and
  # whatever is set there counts as well.
  get_property(call_count GLOBAL PROPERTY KAGENT_CALLS)
  list(LENGTH call_count call_count)
  if(call_count EQUAL 1)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _kagent_finish)")
  endif()
  foreach(part IN ITEMS generated levels folder)
    set_property(GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_${part} "${kagent_${part}}")
  endforeach()
endfunction()

# Says that the build makes `file`, to the directory of the target that compiles it as well.
function(_kagent_mark_generated file target)
  set_source_files_properties("${file}" TARGET_DIRECTORY ${target} PROPERTIES
    GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON SKIP_AUTOGEN ON)
endfunction()

# The rule `kagent pick` and the target that owns it. The stamp is the output, and the generated files are by-products:
# they keep their time if their contents stay, so that nothing is compiled again.
function(_kagent_add_pick)
  set(stamp "${kagent_folder}/pick.stamp")
  set(depfile "${kagent_folder}/pick.d")
  set(generated "${kagent_generated}")
  foreach(level IN LISTS kagent_levels)
    list(APPEND generated "${kagent_generated_${level}}")
  endforeach()
  set(tune "")
  set(terminal "")
  if(NOT kagent_TUNE STREQUAL "PICK")
    set(tune --tune)
    set(terminal USES_TERMINAL)
  endif()
  set(pick "kagent-pick-${kagent_kernel}-${kagent_target}")
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${generated}
    COMMAND KAgent::kagent pick --request "${kagent_request}" --stamp "${stamp}" --depfile "${depfile}"
      --runtime "$<TARGET_FILE:KAgent::runtime>" ${tune}
    DEPENDS
      KAgent::kagent KAgent::runtime "${kagent_request}" "${kagent_source}" "${kagent_golden}/kernel.json"
      "${CMAKE_BINARY_DIR}/compile_commands.json" "$<TARGET_PROPERTY:${pick},KAGENT_DEPENDS>"
    DEPFILE "${depfile}"
    COMMENT "Picking ${kagent_kernel} for ${kagent_target}"
    VERBATIM ${terminal})
  add_custom_target(${pick} DEPENDS "${stamp}")
  set_target_properties(${pick} PROPERTIES FOLDER kagent KAGENT_DEPENDS "")
  add_dependencies(${kagent_target} ${pick})
endfunction()

# Targets for people. Each exists once in a build tree, whichever project asks first.
function(_kagent_add_commands)
  _kagent_add_command(${kagent_kernel}-tune "Tuning ${kagent_kernel}" optimize ${kagent_kernel})
  _kagent_add_command(kagent-tune "Tuning every kernel" optimize)
  _kagent_add_command(kagent-verify "Verifying what the build compiles" verify)
  _kagent_add_command(kagent-report "Reporting" report)
endfunction()

function(_kagent_add_command name comment subcommand)
  get_property(made GLOBAL PROPERTY KAGENT_COMMAND_${name})
  if(made)
    return()
  endif()
  if(TARGET ${name})
    _kagent_fail("the target \"${name}\", which kagent makes, is there already." "rename that target or the kernel")
  endif()
  set_property(GLOBAL PROPERTY KAGENT_COMMAND_${name} ON)
  add_custom_target(${name}
    COMMAND KAgent::kagent ${subcommand} ${ARGN} --build "${CMAKE_BINARY_DIR}"
    DEPENDS KAgent::runtime
    WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
    COMMENT "${comment}"
    VERBATIM USES_TERMINAL)
  set_target_properties(${name} PROPERTIES FOLDER kagent)
endfunction()

# Runs once, when every CMakeLists.txt has been read.
function(_kagent_finish)
  list(APPEND CMAKE_MESSAGE_CONTEXT "kagent_optimize_kernel")
  get_property(calls GLOBAL PROPERTY KAGENT_CALLS)
  foreach(call IN LISTS calls)
    foreach(part IN ITEMS kernel target source generated levels folder)
      get_property(kagent_${part} GLOBAL PROPERTY KAGENT_CALL_${call}_${part})
    endforeach()
    _kagent_copy_source_properties("${kagent_source}" "${kagent_generated}" ${kagent_target} ${kagent_target})
    foreach(level IN LISTS kagent_levels)
      _kagent_finish_level(${level})
    endforeach()
    _kagent_follow_dependencies()
  endforeach()
endfunction()

# Gives the generated file of `compiled_by` what was said about the source in the directory of the target.
function(_kagent_copy_source_properties source generated target compiled_by)
  set(names COMPILE_DEFINITIONS COMPILE_FLAGS INCLUDE_DIRECTORIES OBJECT_DEPENDS SKIP_PRECOMPILE_HEADERS
    CXX_SCAN_FOR_MODULES)
  # A LANGUAGE that the file's name says already would add "-x c++" to the command.
  cmake_path(GET source EXTENSION LAST_ONLY extension)
  string(REGEX REPLACE "^\\." "" extension "${extension}")
  if(NOT extension IN_LIST CMAKE_CXX_SOURCE_FILE_EXTENSIONS)
    list(APPEND names LANGUAGE)
  endif()
  set(configs ${CMAKE_CONFIGURATION_TYPES} ${CMAKE_BUILD_TYPE})
  foreach(config IN LISTS configs)
    string(TOUPPER ${config} config)
    list(APPEND names COMPILE_DEFINITIONS_${config})
  endforeach()
  foreach(name IN LISTS names)
    get_property(value SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY ${name})
    get_property(is_set SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY ${name} SET)
    if(is_set)
      set_property(SOURCE "${generated}" TARGET_DIRECTORY ${compiled_by} PROPERTY ${name} "${value}")
    endif()
  endforeach()
  # The source's own folder is where #include "..." looks first.
  get_property(options SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY COMPILE_OPTIONS)
  cmake_path(GET source PARENT_PATH folder)
  set_property(SOURCE "${generated}" TARGET_DIRECTORY ${compiled_by} PROPERTY
    COMPILE_OPTIONS "-iquote;${folder};${options}")
endfunction()

# Picking reads the headers of the source, so whatever makes headers for the target has to run before.
function(_kagent_follow_dependencies)
  set(pick "kagent-pick-${kagent_kernel}-${kagent_target}")
  get_target_property(targets ${kagent_target} MANUALLY_ADDED_DEPENDENCIES)
  foreach(target IN LISTS targets)
    if(TARGET "${target}" AND NOT target MATCHES "^kagent-(pick|isolate)-")
      add_dependencies(${pick} ${target})
    endif()
  endforeach()
  get_target_property(sources ${kagent_target} SOURCES)
  get_target_property(folder ${kagent_target} SOURCE_DIR)
  set(made "")
  foreach(source IN LISTS sources)
    get_property(generated SOURCE "${source}" TARGET_DIRECTORY ${kagent_target} PROPERTY GENERATED)
    if(generated AND source MATCHES "\\.(h|hh|hpp|hxx|inc|inl|ipp|cuh)$")
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
      list(APPEND made "${source}")
    endif()
  endforeach()
  get_source_file_property(object_depends "${kagent_source}" TARGET_DIRECTORY ${kagent_target} OBJECT_DEPENDS)
  if(object_depends)
    list(APPEND made ${object_depends})
  endif()
  set_target_properties(${pick} PROPERTIES KAGENT_DEPENDS "${made}")
endfunction()
