# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Ninja Multi-Config, Unix Makefiles
# starts from: tuned
use_tuned_project()
string(REGEX REPLACE "^kagent/scale/([^/]+)/.*$" "\\1" level "${BRANCH}")
replace(kernels/scale.cpp [[#include "tile.h"]] "")
call("scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ROUNDS 1 ARCHITECTURES ${level}"
  [[
add_library(base INTERFACE)
target_precompile_headers(base INTERFACE kernels/tile.h)
target_link_libraries(ops PRIVATE base)]])
configure(-DKAGENT_TUNE=MISSING)
build()
file(GLOB program "${BUILD}/app" "${BUILD}/Debug/app")
run(nm -C "${program}")
string(REPLACE "-" "_2d" variant "kagent_ops_scale_${level}")
expect_output("${variant}")
expect_nothing_to_do()

replace(kernels/tile.h 3.0f 4.0f)
configure(-DKAGENT_TUNE=PICK)
build()
run(nm -C "${program}")
expect_no_output("${variant}")
expect_nothing_to_do()
