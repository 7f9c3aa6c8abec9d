# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
set(PROJECT "${WORK}/project [1]")
file(COPY "${HERE}/project/" DESTINATION "${PROJECT}")
configure()
build()
expect_baseline()
expect_nothing_to_do()
