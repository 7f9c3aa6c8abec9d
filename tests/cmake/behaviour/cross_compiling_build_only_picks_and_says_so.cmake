# SPDX-License-Identifier: Apache-2.0
# generators: Ninja
use_template()
configure(-DKAGENT_TUNE=MISSING -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=x86_64)
expect_output("KAGENT_TUNE MISSING acts as PICK")
file(READ "${BUILD}/kagent/ops/scale/request.json" request)
string(JSON tune GET "${request}" tune)
expect_equal("${tune}" PICK)
