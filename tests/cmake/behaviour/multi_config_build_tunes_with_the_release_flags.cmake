# SPDX-License-Identifier: Apache-2.0
# generators: Ninja Multi-Config
use_template()
configure()
file(READ "${BUILD}/kagent/ops/scale/request.json" request)
string(JSON config GET "${request}" config)
expect_equal("${config}" Release)
configure(-DKAGENT_TUNE_CONFIG=RelWithDebInfo)
file(READ "${BUILD}/kagent/ops/scale/request.json" request)
string(JSON config GET "${request}" config)
expect_equal("${config}" RelWithDebInfo)
