# SPDX-License-Identifier: Apache-2.0
# generators: Ninja, Unix Makefiles
# starts from: tuned
use_tuned_project()
expect_stale_after_edit(golden/scale/kernel.json [[{"n": 37}]] [[{"n": 41}]])
