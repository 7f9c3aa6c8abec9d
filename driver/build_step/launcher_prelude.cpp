// SPDX-License-Identifier: Apache-2.0
#include "build_step/launcher_prelude.h"

#include <string_view>

namespace kagent::build_step {
namespace {

// Arithmetic of kernel.json's expressions: exact, and a fault instead of a crash. The expressions are printed over
// std::int64_t; put over this type they keep the short circuits of && and ||, so that a guarded division stays guarded.
constexpr std::string_view kExact = R"(
namespace {

// A 64-bit integer whose overflow or division by zero is remembered.
struct KagentExact {
  static bool& fault() {
    static thread_local bool happened = false;
    return happened;
  }
  std::int64_t value;
  constexpr KagentExact(std::int64_t number) : value(number) {}
  [[maybe_unused]] explicit operator bool() const { return value != 0; }
  [[maybe_unused]] friend KagentExact operator-(KagentExact a) { return KagentExact{0} - a; }
  [[maybe_unused]] friend KagentExact operator+(KagentExact a, KagentExact b) {
    fault() |= __builtin_add_overflow(a.value, b.value, &a.value);
    return a;
  }
  [[maybe_unused]] friend KagentExact operator-(KagentExact a, KagentExact b) {
    fault() |= __builtin_sub_overflow(a.value, b.value, &a.value);
    return a;
  }
  [[maybe_unused]] friend KagentExact operator*(KagentExact a, KagentExact b) {
    fault() |= __builtin_mul_overflow(a.value, b.value, &a.value);
    return a;
  }
  static bool divides(KagentExact a, KagentExact b) {
    const bool fits = static_cast<bool>(b) && !(b.value == -1 && a.value == INT64_MIN);
    fault() |= !fits;
    return fits;
  }
  [[maybe_unused]] friend KagentExact operator/(KagentExact a, KagentExact b) { return divides(a, b) ? a.value / b.value : 0; }
  [[maybe_unused]] friend KagentExact operator%(KagentExact a, KagentExact b) { return divides(a, b) ? a.value % b.value : 0; }
  [[maybe_unused]] friend bool operator==(KagentExact a, KagentExact b) { return a.value == b.value; }
  [[maybe_unused]] friend bool operator!=(KagentExact a, KagentExact b) { return a.value != b.value; }
  [[maybe_unused]] friend bool operator<(KagentExact a, KagentExact b) { return a.value < b.value; }
  [[maybe_unused]] friend bool operator<=(KagentExact a, KagentExact b) { return a.value <= b.value; }
  [[maybe_unused]] friend bool operator>(KagentExact a, KagentExact b) { return a.value > b.value; }
  [[maybe_unused]] friend bool operator>=(KagentExact a, KagentExact b) { return a.value >= b.value; }
};

// A size beyond 2^63 becomes negative, which no extent may be.
template <class Integer>
KagentExact kagent_exact(Integer value) {
  return KagentExact{static_cast<std::int64_t>(value)};
}
inline std::int64_t kagent_value(KagentExact number) {
  return number.value;
}

}  // namespace
)";

// What the launcher needs beside. It stands in front of the kernel's source, whose macros then cannot change it.
// The limits are those of every device that CUDA supports (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability"); what a single device cannot do on top of them is the launch's own error.
constexpr std::string_view kGeometry = R"(
namespace {

struct KagentGeometry {
  std::int64_t extents[6];  // grid, block
  std::int64_t shared;
  std::int64_t cluster[3];
};

inline void kagent_begin_geometry() {
  KagentExact::fault() = false;
}
inline bool kagent_is_possible(const KagentGeometry& geometry) {
  constexpr std::int64_t kMost[6] = {2147483647, 65535, 65535, 1024, 1024, 64};
  bool possible = !KagentExact::fault() && geometry.shared >= 0 && geometry.shared <= 2147483647;
  for (int i = 0; i < 6; ++i) possible = possible && geometry.extents[i] >= 0 && geometry.extents[i] <= kMost[i];
  for (const std::int64_t blocks : geometry.cluster) possible = possible && blocks >= 1 && blocks <= 64;
  return possible && geometry.extents[3] * geometry.extents[4] * geometry.extents[5] <= 1024;
}
inline bool kagent_is_empty(const KagentGeometry& geometry) {
  for (const std::int64_t extent : geometry.extents)
    if (extent == 0) return true;
  return false;
}
inline dim3 kagent_dimensions(const std::int64_t* extent) {
  return dim3(static_cast<unsigned>(extent[0]), static_cast<unsigned>(extent[1]), static_cast<unsigned>(extent[2]));
}
inline cudaLaunchConfig_t kagent_configure(const KagentGeometry& geometry, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = kagent_dimensions(geometry.extents);
  config.blockDim = kagent_dimensions(geometry.extents + 3);
  config.dynamicSmemBytes = static_cast<std::size_t>(geometry.shared);
  config.stream = stream;
  return config;
}

}  // namespace
)";

// What is launched has to be one function that takes what kernel.json lists: a launch would convert numbers unsaid, and
// complain of everything else from within CUDA's headers.
constexpr std::string_view kTypes = R"(
namespace {

struct KagentNothing {};
template <std::size_t kIndex, class... Types>
struct KagentType {
  using Type = KagentNothing;
};
template <class First, class... Rest>
struct KagentType<0, First, Rest...> {
  using Type = First;
};
template <std::size_t kIndex, class First, class... Rest>
struct KagentType<kIndex, First, Rest...> : KagentType<kIndex - 1, Rest...> {};

template <class Given, class Taken, bool kIsNumber = std::is_arithmetic<Given>::value && std::is_arithmetic<Taken>::value>
struct KagentFits : std::is_convertible<Given, Taken> {};
template <class Given>
struct KagentFits<Given, KagentNothing, false> : std::true_type {};  // another number of parameters is said as such
template <class Given, class Taken>
struct KagentFits<Given, Taken, true> {
  static constexpr bool value =
      sizeof(Given) == sizeof(Taken) && std::is_floating_point<Given>::value == std::is_floating_point<Taken>::value &&
      std::is_same<Given, bool>::value == std::is_same<Taken, bool>::value &&
      (std::is_signed<Given>::value == std::is_signed<Taken>::value || std::is_same<Taken, char>::value);
};

// Integers of one size and sign have several names, of which <cstdint> has one and CUDA's atomics another.
template <class Given, class Taken>
struct KagentFits<Given*, Taken*, false> {
  using From = typename std::remove_cv<Given>::type;
  using To = typename std::remove_cv<Taken>::type;
  static constexpr bool kIsInteger = std::is_integral<From>::value && std::is_integral<To>::value;
  static constexpr bool kIsWritten = !std::is_const<Taken>::value && std::is_const<Given>::value;
  static constexpr bool value = std::is_convertible<Given*, Taken*>::value ||
                                (kIsInteger && !kIsWritten && KagentFits<From, To>::value);
};
// What is handed to the launch in place of a pointer that fits.
template <class Given, class Taken, bool kFits = KagentFits<Given, Taken>::value && std::is_pointer<Taken>::value>
struct KagentPassed {
  using Type = Taken;
};
template <class Given, class Taken>
struct KagentPassed<Given, Taken, false> {
  using Type = Given;  // what is wrong was said
};

// Whether a __constant__ array is of what is copied to it; a class is taken for several elements of it.
template <class Given, class Held>
struct KagentHolds {
  using Element = typename std::remove_cv<typename std::remove_all_extents<Held>::type>::type;
  static constexpr bool value =
      !std::is_arithmetic<Given>::value || !std::is_arithmetic<Element>::value || KagentFits<Given, Element>::value;
};
template <class Given, class Held>
[[maybe_unused]] KagentHolds<Given, Held> kagent_holds(const Held&);

// Of what is no kernel, or several, the compiler has said so already.
template <class Kernel>
struct KagentTaken {
  template <std::size_t kCount>
  static constexpr bool kAreAsMany = true;
  template <std::size_t kIndex, class Given>
  static constexpr bool kIsLike = true;
  template <std::size_t kIndex, class Given>
  using Passed = Given;
};
template <class... Types>
struct KagentTaken<void (*)(Types...)> {
  template <std::size_t kCount>
  static constexpr bool kAreAsMany = sizeof...(Types) == kCount;
  template <std::size_t kIndex, class Given>
  static constexpr bool kIsLike = KagentFits<Given, typename KagentType<kIndex, Types...>::Type>::value;
  template <std::size_t kIndex, class Given>
  using Passed = typename KagentPassed<Given, typename KagentType<kIndex, Types...>::Type>::Type;
};

}  // namespace
)";

// Dynamic shared memory beyond 48 KiB has to be asked for.
constexpr std::string_view kRaise = R"(
namespace {

// Once for each device, and as far as the device goes: a smaller limit set later would take it from other calls.
template <class Kernel>
cudaError_t kagent_raise_shared(Kernel kernel, const KagentGeometry& geometry) {
  if (geometry.shared <= 48 * 1024) return cudaSuccess;
  static std::atomic<bool> raised[64];
  int device = 0, most = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error != cudaSuccess || (device < 64 && raised[device].load(std::memory_order_acquire))) return error;
  cudaFuncAttributes attributes{};
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaSuccess)
    error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 most - static_cast<int>(attributes.sharedSizeBytes));
  if (error == cudaSuccess && device < 64) raised[device].store(true, std::memory_order_release);
  return error;
}

}  // namespace
)";

// More than 8 blocks in a cluster are not portable, and have to be allowed. One block is no cluster, which devices
// before sm_90 would refuse.
constexpr std::string_view kCluster = R"(
namespace {

template <class Kernel>
cudaError_t kagent_set_cluster(Kernel kernel, const KagentGeometry& geometry, cudaLaunchAttribute& attribute,
                               cudaLaunchConfig_t& config) {
  const dim3 cluster = kagent_dimensions(geometry.cluster);
  if (cluster.x * cluster.y * cluster.z == 1) return cudaSuccess;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster.x;
  attribute.val.clusterDim.y = cluster.y;
  attribute.val.clusterDim.z = cluster.z;
  config.attrs = &attribute;
  config.numAttrs = 1;
  if (cluster.x * cluster.y * cluster.z <= 8) return cudaSuccess;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
}

}  // namespace
)";

}  // namespace

std::string launcher_prelude(const Launch& launch) {
  std::string text;
  text += kExact;
  text += kGeometry;
  text += kTypes;
  if (launch.shared_memory) text += kRaise;
  if (launch.cluster) text += kCluster;
  return text;
}

}  // namespace kagent::build_step
