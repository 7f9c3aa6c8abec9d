# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_cuda_template()
configure()
# The command of the plain build, but for the folder that the source's own #include "..." looks into first.
compile_command(kagent/ops/scale/scale.cu got)
string(REPLACE " -Xcompiler=-iquote,${PROJECT}/kernels" "" got "${got}")
build()
expect_compiled(main.cpp ops.cpp scale.cu)
expect_program("block of 64")
expect_nothing_to_do()

file_variant(scale sm_90 "BLOCK 64" "BLOCK 128")
build()
expect_output("kagent: scale (ops, sm_90): variants/scale/sm_90, 2.00x")
expect_compiled(scale.cu)
expect_program("block of 128")
expect_no_symbol(app kagent_)
expect_nothing_to_do()

replace(kernels/tile.h "= 3" "= 4")
build()
expect_output("header kernels/tile.h changed")
expect_compiled(scale.cu)
expect_program("block of 64")
expect_nothing_to_do()

# The same project without the call.
file(READ "${PROJECT}/CMakeLists.txt" text)
string(REGEX REPLACE "kagent_optimize_kernel\\([^\n]*\\)\n" "" text "${text}")
write(CMakeLists.txt "${text}")
configure(-DCMAKE_EXPORT_COMPILE_COMMANDS=ON)
compile_command(kernels/scale.cu plain)
foreach(command IN ITEMS got plain)
  string(REGEX REPLACE " -c [^ ]+ -o [^ ]+$" "" ${command} "${${command}}")
endforeach()
expect_equal("${got}" "${plain}")
