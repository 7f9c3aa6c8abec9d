# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
replace(CMakeLists.txt "find_package(KAgent CONFIG REQUIRED)" [[
set_property(GLOBAL PROPERTY JOB_POOLS heavy=1)
set(CMAKE_JOB_POOL_COMPILE heavy)
set(CMAKE_JOB_POOL_LINK heavy)
find_package(KAgent CONFIG REQUIRED)]])
configure()
build()
expect_baseline()
configure(-DKAGENT_TUNE=MISSING)
file(STRINGS "${BUILD}/CMakeFiles/rules.ninja" pools REGEX "^pool ")
expect_equal("${pools}" "pool heavy")
