# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale]]
  "set_source_files_properties(kernels/scale.cpp PROPERTIES HEADER_FILE_ONLY ON)")
expect_wrong_use([[SOURCE "kernels/scale.cpp" has HEADER_FILE_ONLY set]] "remove HEADER_FILE_ONLY")
