// SPDX-License-Identifier: Apache-2.0
#include "shipped_cuda_kernels.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "../../kernels/attention.h"
#include "../../kernels/group_norm.h"
#include "../../kernels/hgemm.h"
#include "../../kernels/layer_norm.h"
#include "../../kernels/norm_chain.h"
#include "../../kernels/reduce_sum.h"
#include "../../kernels/rms_norm.h"
#include "../../kernels/sgemm.h"

void attention_reference(const double*, const double*, const double*, double*, double*, int, int, int);
void convolution_2d_reference(const double*, const double*, double*, int, int);
void group_norm_reference(const double*, const double*, const double*, double*, int, int, int, int);
void hgemm_reference(const double*, const double*, double*, int, int, int);
void layer_norm_reference(const double*, const double*, const double*, double*, int, int);
void norm_chain_reference(const double*, const double*, const double*, const double*, double*, double*, double*, int,
                          int, double, std::uint64_t);
void reduce_sum_reference(const double*, double*, double*, std::int64_t);
void rms_norm_reference(const double*, const double*, double*, int, int);
void row_softmax_reference(const double*, double*, int, int);
void sgemm_reference(const double*, const double*, double*, int, int, int);
void transpose_reference(const double*, double*, int, int);

// Kernels of style "kernel" have no header: kagent generates one for their launcher.
namespace kagent::kernels {
extern float filter[15 * 15];
void convolution_2d(const float*, float*, int, int);
void row_softmax(const float*, float*, int, int);
void transpose(const float*, float*, int, int);
}  // namespace kagent::kernels

namespace kagent {
namespace {

template <class T>
T value_of(const ShippedArguments& arguments, std::size_t index) {
  if (index >= arguments.values.size()) return T{};  // the stream
  if constexpr (std::is_pointer_v<T>)
    return static_cast<T>(arguments.values[index].buffer);
  else
    return static_cast<T>(arguments.values[index].number);
}

// A function that takes its arguments from a list.
template <class... Parameters>
std::function<void(const ShippedArguments&)> listed(void (*function)(Parameters...)) {
  return [function](const ShippedArguments& arguments) {
    [&]<std::size_t... index>(std::index_sequence<index...>) {
      function(value_of<Parameters>(arguments, index)...);
    }
    (std::index_sequence_for<Parameters...>{});
  };
}

// What the generated launcher does, with a kernel as the thread of a grid.
std::function<void(const ShippedArguments&)> launched(std::function<void(const ShippedArguments&)> kernel) {
  return [kernel = std::move(kernel)](const ShippedArguments& arguments) {
    const auto& [grid, block, shared_bytes] = arguments.geometry;
    if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return;
    emulated::launch({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, shared_bytes,
                     [&] { kernel(arguments); });
  };
}

void convolve(const ShippedArguments& arguments) {
  std::memcpy(kernels::filter, arguments.values[1].buffer, sizeof kernels::filter);
  ShippedArguments passed = arguments;
  passed.values.erase(passed.values.begin() + 1);
  launched(listed(kernels::convolution_2d))(passed);
}

}  // namespace

std::vector<ShippedCudaKernel> shipped_cuda_kernels() {
  return {
      {"attention", listed(kernels::attention), listed(attention_reference)},
      {"convolution_2d", convolve, listed(convolution_2d_reference)},
      {"group_norm", listed(kernels::group_norm), listed(group_norm_reference)},
      {"hgemm", listed(kernels::hgemm), listed(hgemm_reference)},
      {"layer_norm", listed(kernels::layer_norm), listed(layer_norm_reference)},
      {"norm_chain", listed(kernels::norm_chain), listed(norm_chain_reference)},
      {"reduce_sum", listed(kernels::reduce_sum), listed(reduce_sum_reference)},
      {"rms_norm", listed(kernels::rms_norm), listed(rms_norm_reference)},
      {"row_softmax", launched(listed(kernels::row_softmax)), listed(row_softmax_reference)},
      {"sgemm", listed(kernels::sgemm), listed(sgemm_reference)},
      {"transpose", launched(listed(kernels::transpose)), listed(transpose_reference)},
  };
}

}  // namespace kagent
