# SPDX-License-Identifier: Apache-2.0
use_template()
replace(CMakeLists.txt "add_library(ops " "add_library(ops OBJECT ")
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES x86-64-v2]])
expect_wrong_use([[ARCHITECTURES cannot be given for the object library "ops"]] "a static or shared library")
