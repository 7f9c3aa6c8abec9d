# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Ninja Multi-Config, Unix Makefiles
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES x86-64-v3 x86-64-v2]])
configure()
build()
expect_baseline()
expect_nothing_to_do()
replace(kernels/scale.cpp 64 65)
build()
expect_compiled(scale.cpp)
expect_program("65 passes")
expect_nothing_to_do()
