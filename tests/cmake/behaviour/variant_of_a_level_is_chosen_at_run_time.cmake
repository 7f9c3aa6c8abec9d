# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Ninja Multi-Config, Unix Makefiles
# starts from: tuned
use_tuned_project()
# The level of this machine, under which the variant is filed, and one that has none.
string(REGEX REPLACE "^kagent/scale/([^/]+)/.*$" "\\1" level "${BRANCH}")
set(other x86-64-v2)
if(level STREQUAL "x86-64-v2")
  set(other x86-64)
endif()
call("scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES ${other} ${level}")
configure()
build()
expect_compiled(main.cpp ops.cpp scale.cpp scale.cpp scale.cpp)
# The rest of the file is the baseline's; the entry is chosen when the program is loaded, and gives the right results.
expect_baseline()
file(GLOB program "${BUILD}/app" "${BUILD}/Debug/app")
run(nm -C "${program}")
if(NOT output MATCHES " i scale\\(float const\\*, float\\*, int\\)")
  message(FATAL_ERROR "${output}\nthe entry is not chosen at run time")
endif()
string(REPLACE "-" "_2d" variant "kagent_ops_scale_${level}")
expect_output("${variant}")
expect_nothing_to_do()

git(branch -q -D "${BRANCH}")
build()
expect_compiled(scale.cpp scale.cpp)
run(nm -C "${program}")
expect_no_output("${variant}")
expect_baseline()
expect_nothing_to_do()
