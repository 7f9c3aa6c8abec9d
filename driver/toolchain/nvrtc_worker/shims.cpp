// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_worker/shims.h"

namespace kagent::toolchain {
namespace {

// The types that NVRTC's own libraries have, whose int64_t is long long: two definitions would not agree.
constexpr const char* kStdint = "#pragma once\n#include <cuda/std/cstdint>\n";
constexpr const char* kLimitsH = "#pragma once\n#include <cuda/std/climits>\n";

constexpr const char* kCstdint = R"(#pragma once
#include <stdint.h>
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
}
)";

constexpr const char* kStddef = R"(#pragma once
typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
)";

constexpr const char* kCstddef = R"(#pragma once
#include <stddef.h>
namespace std {
using ::size_t; using ::ptrdiff_t;
using nullptr_t = decltype(nullptr);
}
)";

constexpr const char* kFloatH = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209290e-07F
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
)";

// The functions themselves are NVRTC's own.
constexpr const char* kMathH = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880
#endif
)";

constexpr const char* kCmath = R"(#pragma once
#include <math.h>
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh;
using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp;
using ::exp2; using ::expm1; using ::fabs; using ::floor; using ::fma; using ::fmax; using ::fmin; using ::fmod;
using ::hypot; using ::isfinite; using ::isinf; using ::isnan; using ::ldexp; using ::lgamma; using ::log;
using ::log10; using ::log1p; using ::log2; using ::pow; using ::remainder; using ::rint; using ::round;
using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc;
}
)";

constexpr const char* kLimits =
    "#pragma once\n#include <cuda/std/limits>\nnamespace std { using ::cuda::std::numeric_limits; }\n";
constexpr const char* kTypeTraits =
    "#pragma once\n#include <cuda/std/type_traits>\nnamespace std { using namespace ::cuda::std; }\n";
constexpr const char* kUtility =
    "#pragma once\n#include <cuda/std/utility>\nnamespace std { using namespace ::cuda::std; }\n";

// The whole of cub has host functions that NVRTC refuses. Kernels use what works in blocks and warps.
constexpr const char* kCub = R"(#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
)";

constexpr Shim kShims[] = {{"stdint.h", kStdint}, {"cstdint", kCstdint},  {"stddef.h", kStddef},
                           {"cstddef", kCstddef}, {"limits.h", kLimitsH}, {"climits", kLimitsH},
                           {"float.h", kFloatH},  {"cfloat", kFloatH},    {"math.h", kMathH},
                           {"cmath", kCmath},     {"limits", kLimits},    {"type_traits", kTypeTraits},
                           {"utility", kUtility}, {"cub/cub.cuh", kCub}};

}  // namespace

std::span<const Shim> shims() {
  return kShims;
}

}  // namespace kagent::toolchain
