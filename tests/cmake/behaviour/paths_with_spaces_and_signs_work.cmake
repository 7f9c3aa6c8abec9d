# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
set(PROJECT "${WORK}/sp ace (a) + b, c@d/project")
set(BUILD "${WORK}/sp ace (a) + b, c@d/build")
file(MAKE_DIRECTORY "${PROJECT}/..")
file(COPY "${HERE}/project" DESTINATION "${PROJECT}/..")
configure()
build()
expect_baseline()
expect_nothing_to_do()
replace(kernels/tile.h 3.0f 4.0f)
build()
expect_compiled(scale.cpp)
expect_nothing_to_do()
