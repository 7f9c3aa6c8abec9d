# SPDX-License-Identifier: Apache-2.0
use_template()
call([[scale TARGET ops SOURCE kernels/scale.cpp GOLDEN golden/scale ARCHITECTURES sm_90]])
expect_wrong_use([[ARCHITECTURES "sm_90" is for CUDA, and "kernels/scale.cpp" is C++]] [[x86-64-v4]])
