# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
# starts from: tuned
use_tuned_project()
set(kagent "${KAGENT_BUILD}/bin/kagent")
configure()
build()
expect_variant()
run("${kagent}" promote scale -B "${BUILD}")
git(branch -q -D "${BRANCH}")
build()
expect_picked()
expect_variant()
expect_nothing_to_do()
# Files in the working tree come before every branch, so there is nothing that a rollback could do.
_run("${kagent}" rollback scale -B "${BUILD}")
if(NOT status EQUAL 2 OR NOT output MATCHES "comes before every branch")
  _fail("rollback does not say why it does nothing")
endif()
