# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
# starts from: tuned
use_tuned_project()
string(REGEX REPLACE "^kagent/scale/([^/]+)/.*$" "\\1" level "${BRANCH}")
call("scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES ${level}")
file(APPEND "${PROJECT}/CMakeLists.txt" "target_compile_options(ops PRIVATE -flto)\n")
configure()
build()
run(nm -C "${BUILD}/app")
string(REPLACE "-" "_2d" variant "kagent_ops_scale_${level}")
expect_output("${variant}")
expect_baseline()
expect_nothing_to_do()
