# SPDX-License-Identifier: Apache-2.0
use_template()
call([[]])
expect_wrong_use([[has to be the kernel's name]])
