# SPDX-License-Identifier: Apache-2.0
# How a call changes the build: the generated source, the rule that picks its contents, the targets for people.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# Has `function` called after the top-level CMakeLists.txt was read.
function(_kagent_at_the_end function)
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [==[${CMAKE_SOURCE_DIR}]==] CALL ${function})")
endfunction()

# Puts the generated file where the source was, in this target only.
function(_kagent_replace_source)
  get_target_property(sources ${kagent_target} SOURCES)
  list(FIND sources "${kagent_source_entry}" index)
  list(REMOVE_AT sources ${index})
  list(INSERT sources ${index} "${kagent_generated}")
  set_property(TARGET ${kagent_target} PROPERTY SOURCES "${sources}")
  # The contents of compile_commands.json: candidates are compiled with the command of the generated file.
  set_property(TARGET ${kagent_target} PROPERTY EXPORT_COMPILE_COMMANDS ON)
  _kagent_mark_generated("${kagent_generated}" ${kagent_target})

  # Properties of the source may be set after the call. The top-level directory is the last one to be read, and
  # whatever is set there counts as well.
  get_property(call_count GLOBAL PROPERTY KAGENT_CALLS)
  list(LENGTH call_count call_count)
  if(call_count EQUAL 1)
    _kagent_at_the_end(_kagent_finish)
  endif()
  foreach(part IN ITEMS generated main levels folder)
    set_property(GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_${part} "${kagent_${part}}")
  endforeach()
  if(kagent_language STREQUAL "cuda")
    get_target_property(architectures ${kagent_target} CUDA_ARCHITECTURES)
    set_property(GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_architectures "${architectures}")
    set_property(GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_newest "${kagent_newest}")
    if(kagent_style STREQUAL "kernel")
      _kagent_add_launcher_folder()
    endif()
  endif()
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
  # Included by the generated file. Ninja looks again only at those files that a rule says it writes.
  if(kagent_levels)
    list(APPEND generated "${kagent_folder}/dispatch.inc")
  endif()
  # Included by whoever calls the launcher.
  if(kagent_language STREQUAL "cuda" AND kagent_style STREQUAL "kernel")
    string(REPLACE "-" "_" name "${kagent_kernel}")
    list(APPEND generated "${CMAKE_BINARY_DIR}/kagent/${kagent_target}/include/${name}_launch.h")
  endif()
  set(tune "")
  set(terminal "")
  if(NOT kagent_TUNE STREQUAL "PICK")
    set(tune --tune)
    set(terminal USES_TERMINAL)
  endif()
  _kagent_owner(pick pick)
  # CMake's dependency record for Make only ever grows: a file that was an input once and is gone, such as the folder of
  # a deleted branch, would have every later build pick again. Without the record CMake reads the depfiles anew.
  set(forget "")
  if(CMAKE_GENERATOR STREQUAL "Unix Makefiles")
    set(record "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${pick}.dir/compiler_depend.internal")
    set(forget COMMAND "${CMAKE_COMMAND}" -E rm -f "${record}")
  endif()
  add_custom_command(
    OUTPUT "${stamp}"
    BYPRODUCTS ${generated}
    COMMAND KAgent::kagent pick --request "${kagent_request}" --stamp "${stamp}" --depfile "${depfile}"
      --runtime "$<TARGET_FILE:KAgent::runtime>" ${tune}
    ${forget}
    DEPENDS
      KAgent::kagent KAgent::runtime "${kagent_request}" "${kagent_source}" "${kagent_golden}/kernel.json"
      "${CMAKE_BINARY_DIR}/compile_commands.json" "$<TARGET_PROPERTY:${pick},KAGENT_DEPENDS_${kagent_call}>"
    DEPFILE "${depfile}"
    COMMENT "Picking ${kagent_kernel} for ${kagent_target}"
    VERBATIM ${terminal})
  set_property(TARGET ${pick} APPEND PROPERTY SOURCES "${stamp}")
  # Named by number: a property in a generator expression may not hold a "-", which a kernel's name may.
  set_property(TARGET ${pick} PROPERTY KAGENT_DEPENDS_${kagent_call} "")
  set_property(GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_pick ${pick})
  set(kagent_pick ${pick} PARENT_SCOPE)
endfunction()

# The target that owns the rules of one kind ("pick", "isolate") of all kernels of the user's target. One for each
# directory with calls, since rules belong to a directory; and not one for each kernel, since Make starts several
# processes for every target of every build.
function(_kagent_owner kind result)
  set(key KAGENT_OWNER_${kind}_${kagent_target})
  get_property(owner DIRECTORY PROPERTY ${key})
  if(NOT owner)
    set(owner "kagent-${kind}-${kagent_target}")
    set(number 1)
    while(TARGET ${owner})
      math(EXPR number "${number} + 1")
      set(owner "kagent-${kind}-${kagent_target}-${number}")
    endwhile()
    set_property(DIRECTORY PROPERTY ${key} ${owner})
    add_custom_target(${owner})
    set_target_properties(${owner} PROPERTIES FOLDER kagent)
    add_dependencies(${kagent_target} ${owner})
  endif()
  set(${result} ${owner} PARENT_SCOPE)
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
  foreach(kagent_call IN LISTS calls)
    foreach(part IN ITEMS kernel target source language generated main levels newest folder pick)
      get_property(kagent_${part} GLOBAL PROPERTY KAGENT_CALL_${kagent_call}_${part})
    endforeach()
    _kagent_copy_source_properties("${kagent_source}" "${kagent_generated}" ${kagent_target} ${kagent_target})
    if(kagent_language STREQUAL "cuda")
      _kagent_check_unchanged_architectures()
      if(kagent_main STREQUAL "dispatch")
        _kagent_finish_cuda_dispatcher()
      endif()
    endif()
    foreach(level IN LISTS kagent_levels)
      _kagent_finish_level(${level})
    endforeach()
    _kagent_follow_dependencies()
  endforeach()
endfunction()

# Removes the requests of calls that are no longer made: kagent finds the kernels of a build tree by them. A call that
# the project itself defers comes later, and writes its own again.
function(_kagent_forget)
  file(GLOB forgotten "${CMAKE_BINARY_DIR}/kagent/*/*/request.json")
  get_property(calls GLOBAL PROPERTY KAGENT_CALLS)
  foreach(call IN LISTS calls)
    get_property(folder GLOBAL PROPERTY KAGENT_CALL_${call}_folder)
    list(REMOVE_ITEM forgotten "${folder}/request.json")
  endforeach()
  if(forgotten)
    file(REMOVE ${forgotten})
  endif()
endfunction()

# Gives the generated file of `compiled_by` what was said about the source in the directory of the target.
function(_kagent_copy_source_properties source generated target compiled_by)
  set(names COMPILE_DEFINITIONS COMPILE_FLAGS INCLUDE_DIRECTORIES OBJECT_DEPENDS SKIP_PRECOMPILE_HEADERS
    CXX_SCAN_FOR_MODULES)
  # A LANGUAGE that the file's name says already would add "-x c++" to the command.
  cmake_path(GET source EXTENSION LAST_ONLY extension)
  string(REGEX REPLACE "^\\." "" extension "${extension}")
  set(extensions ${CMAKE_CXX_SOURCE_FILE_EXTENSIONS})
  if(kagent_language STREQUAL "cuda")
    set(extensions cu)
  endif()
  if(NOT extension IN_LIST extensions)
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
  set(include "-iquote;${folder}")
  if(kagent_language STREQUAL "cuda")
    _kagent_cuda_include_option("${folder}" include)
  endif()
  set_property(SOURCE "${generated}" TARGET_DIRECTORY ${compiled_by} PROPERTY COMPILE_OPTIONS "${include};${options}")
endfunction()

# Picking reads the headers of the source, so whatever makes headers for the target has to run before.
function(_kagent_follow_dependencies)
  _kagent_generated_headers(made)
  get_source_file_property(object_depends "${kagent_source}" TARGET_DIRECTORY ${kagent_target} OBJECT_DEPENDS)
  if(object_depends)
    list(APPEND made ${object_depends})
  endif()
  _kagent_check_rules_are_reachable("${made}")
  set_property(TARGET ${kagent_pick} PROPERTY KAGENT_DEPENDS_${kagent_call} "${made}")

  get_property(followed TARGET ${kagent_pick} PROPERTY KAGENT_FOLLOWED)
  if(followed)
    return()
  endif()
  set_property(TARGET ${kagent_pick} PROPERTY KAGENT_FOLLOWED ON)
  _kagent_reachable_targets(${kagent_target} reachable)
  list(REMOVE_ITEM reachable ${kagent_target})
  foreach(target IN LISTS reachable)
    # Static libraries may need each other. What needs this target cannot come before it.
    _kagent_reachable_targets(${target} needed)
    if(NOT kagent_target IN_LIST needed)
      add_dependencies(${kagent_pick} ${target})
    endif()
  endforeach()
endfunction()

# A rule belongs to a directory. One of the target's own sources is run after what the target depends on, and that is
# kagent's rule; only within one directory can a rule depend on another alone.
function(_kagent_check_rules_are_reachable files)
  get_target_property(pick_folder ${kagent_pick} SOURCE_DIR)
  get_target_property(target_folder ${kagent_target} SOURCE_DIR)
  if(pick_folder STREQUAL target_folder)
    return()
  endif()
  foreach(file IN LISTS files)
    get_property(generated SOURCE "${file}" TARGET_DIRECTORY ${kagent_target} PROPERTY GENERATED)
    if(generated)
      string(CONCAT problem
        "the build makes ${file} as a part of \"${kagent_target}\", and the call is in another directory "
        "(${pick_folder}): each would have to be built before the other.")
      string(CONCAT fix
        "make the call in ${target_folder}; or leave the file out of the sources of \"${kagent_target}\", and have it "
        "made by a custom target of its own: add_custom_target(<name> DEPENDS ${file}), "
        "add_dependencies(${kagent_target} <name>)")
      _kagent_fail("${problem}" "${fix}")
    endif()
  endforeach()
endfunction()

# Headers among the sources of the user's target that the build makes.
function(_kagent_generated_headers result)
  get_property(known GLOBAL PROPERTY KAGENT_HEADERS_${kagent_target} SET)
  if(NOT known)
    get_target_property(sources ${kagent_target} SOURCES)
    get_target_property(folder ${kagent_target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "\\.(h|hh|hpp|hxx|inc|inl|ipp)$")
    set(headers "")
    foreach(source IN LISTS sources)
      get_property(generated SOURCE "${source}" TARGET_DIRECTORY ${kagent_target} PROPERTY GENERATED)
      if(generated)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}")
        list(APPEND headers "${source}")
      endif()
    endforeach()
    set_property(GLOBAL PROPERTY KAGENT_HEADERS_${kagent_target} "${headers}")
  endif()
  get_property(headers GLOBAL PROPERTY KAGENT_HEADERS_${kagent_target})
  set(${result} "${headers}" PARENT_SCOPE)
endfunction()

# Targets of this build that `root` is built after or linked with, itself included; kagent's own rules left out.
function(_kagent_reachable_targets root result)
  get_property(known GLOBAL PROPERTY KAGENT_REACHABLE_${root})
  if(known)
    set(${result} "${known}" PARENT_SCOPE)
    return()
  endif()
  set(found "")
  set(seen ${root})
  set(open ${root})
  while(open)
    list(POP_FRONT open target)
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "INTERFACE_LIBRARY")
      list(APPEND found ${target})
    endif()
    foreach(property IN ITEMS LINK_LIBRARIES INTERFACE_LINK_LIBRARIES MANUALLY_ADDED_DEPENDENCIES)
      get_property(items TARGET ${target} PROPERTY ${property})
      foreach(item IN LISTS items)
        string(REGEX REPLACE "^\\$<(LINK_ONLY|BUILD_INTERFACE|COMPILE_ONLY|1):(.*)>$" "\\2" item "${item}")
        if(NOT TARGET "${item}" OR item MATCHES "^kagent-(pick|isolate|object)-")
          continue()
        endif()
        get_target_property(aliased ${item} ALIASED_TARGET)
        if(aliased)
          set(item ${aliased})
        endif()
        get_target_property(imported ${item} IMPORTED)
        if(NOT imported AND NOT item IN_LIST seen)
          list(APPEND seen ${item})
          list(APPEND open ${item})
        endif()
      endforeach()
    endforeach()
  endwhile()
  set_property(GLOBAL PROPERTY KAGENT_REACHABLE_${root} "${found}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
