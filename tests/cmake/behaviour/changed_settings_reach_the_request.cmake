# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
configure(-DKAGENT_TUNE=MISSING -DKAGENT_WIDTH=3 -DKAGENT_TIME_BUDGET=2h -DKAGENT_MIN_GAIN=.25 -DKAGENT_REQUIRE_TUNED=ON
  -DKAGENT_REQUIRE_REVIEWED=ON -DKAGENT_PROPOSER=command -DKAGENT_REMOTE_VARIANTS=ON)
file(READ "${BUILD}/kagent/ops/scale/request.json" request)
foreach(setting IN ITEMS "tune MISSING" "width 3" "rounds 1" "time_budget_s 60" "min_gain 0.25"
    "require_tuned ON" "require_reviewed ON"
    "remote_variants ON" "allow_unsandboxed ON" "kernel scale" "target ops" "config " "proposer command"
    "source ${PROJECT}/kernels/scale.cpp" "golden ${PROJECT}/golden/scale" "project_dir ${PROJECT}"
    "build_dir ${BUILD}")
  string(REGEX MATCH "^([a-z_]+) (.*)$" unused "${setting}")
  set(expected "${CMAKE_MATCH_2}")
  string(JSON got GET "${request}" "${CMAKE_MATCH_1}")
  expect_equal("${CMAKE_MATCH_1} ${got}" "${CMAKE_MATCH_1} ${expected}")
endforeach()
string(JSON architecture GET "${request}" outputs 0 architecture)
expect_equal("${architecture}" native)
