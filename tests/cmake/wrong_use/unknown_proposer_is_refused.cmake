# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale PROPOSER oracle]])
expect_wrong_use([[PROPOSER "oracle" is not a proposer]] [[search, model, openai, anthropic, command, agent, replay]])
