# SPDX-License-Identifier: Apache-2.0
# request.json: what a call asks of `kagent`, written at configure time.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

# `text` as a JSON string, quotes included.
function(_kagent_json_string text result)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\t" "\\t" text "${text}")
  set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

# Writes a file only if its contents change, so that nothing is out of date after configuring again.
function(_kagent_write_if_different file content)
  if(EXISTS "${file}")
    file(READ "${file}" old)
    if(old STREQUAL content)
      return()
    endif()
  endif()
  file(WRITE "${file}" "${content}")
endfunction()

# Architectures are one alone that the target's own rule compiles ("native", "sm_90"), or "dispatch" (baseline and
# run-time choice) and levels.
# Sets kagent_folder, kagent_request, kagent_generated, and kagent_generated_<level> for each level.
function(_kagent_write_request)
  set(folder "${CMAKE_BINARY_DIR}/kagent/${kagent_target}/${kagent_kernel}")
  cmake_path(GET kagent_source FILENAME name)

  set(main ${kagent_main})
  set(architectures ${main})
  set(generated_${main} "${folder}/${name}")
  foreach(level IN LISTS kagent_levels)
    list(APPEND architectures ${level})
    set(generated_${level} "${folder}/${level}/${name}")
    set(kagent_generated_${level} "${generated_${level}}" PARENT_SCOPE)
  endforeach()
  set(outputs "")
  foreach(architecture IN LISTS architectures)
    _kagent_json_string("${generated_${architecture}}" path)
    list(APPEND outputs "    {\"architecture\": \"${architecture}\", \"generated\": ${path}}")
  endforeach()
  list(JOIN outputs ",\n" outputs)

  set(text_kernel "${kagent_kernel}")
  set(text_target "${kagent_target}")
  set(text_source "${kagent_source}")
  set(text_language "${kagent_language}")
  set(text_golden "${kagent_golden}")
  set(text_project_dir "${PROJECT_SOURCE_DIR}")
  set(text_build_dir "${CMAKE_BINARY_DIR}")
  set(text_compile_commands "${CMAKE_BINARY_DIR}/compile_commands.json")
  set(text_compiler "${CMAKE_CXX_COMPILER}")
  if(kagent_language STREQUAL "cuda")
    set(text_compiler "${CMAKE_CUDA_COMPILER}")
  endif()
  set(text_config "${kagent_config}")
  set(text_tune "${kagent_TUNE}")
  set(text_proposer "${kagent_PROPOSER}")
  set(content "{\n  \"format\": 1,\n")
  foreach(field IN ITEMS
      kernel target source language golden project_dir build_dir compile_commands compiler config tune proposer)
    _kagent_json_string("${text_${field}}" value)
    string(APPEND content "  \"${field}\": ${value},\n")
  endforeach()
  set(settings "")
  foreach(name IN ITEMS
      MODEL DRAFT_MODEL REFINE_MODEL MODEL_API MODEL_URL MODEL_KEY TOKEN_BUDGET MONEY_BUDGET)
    if(NOT "${KAGENT_${name}}" STREQUAL "")
      _kagent_json_string("${KAGENT_${name}}" value)
      list(APPEND settings "\"${name}\": ${value}")
    endif()
  endforeach()
  list(JOIN settings ", " settings)
  string(APPEND content
    "  \"model_settings\": {${settings}},\n"
    "  \"outputs\": [\n${outputs}\n  ],\n"
    "  \"rounds\": ${kagent_ROUNDS},\n"
    "  \"width\": ${kagent_WIDTH},\n"
    "  \"time_budget_s\": ${kagent_time_budget_s},\n"
    "  \"min_gain\": ${kagent_MIN_GAIN},\n"
    "  \"require_tuned\": ${kagent_REQUIRE_TUNED},\n"
    "  \"require_reviewed\": ${kagent_REQUIRE_REVIEWED},\n"
    "  \"remote_variants\": ${kagent_REMOTE_VARIANTS},\n"
    "  \"allow_unsandboxed\": ${kagent_ALLOW_UNSANDBOXED}\n}\n")
  _kagent_write_if_different("${folder}/request.json" "${content}")
  set(kagent_folder "${folder}" PARENT_SCOPE)
  set(kagent_request "${folder}/request.json" PARENT_SCOPE)
  set(kagent_generated "${generated_${main}}" PARENT_SCOPE)
endfunction()
