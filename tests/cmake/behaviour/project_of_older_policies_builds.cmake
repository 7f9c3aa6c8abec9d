# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
use_template()
replace(CMakeLists.txt "VERSION 3.25" "VERSION 3.5")
configure()
build()
expect_baseline()
expect_nothing_to_do()
