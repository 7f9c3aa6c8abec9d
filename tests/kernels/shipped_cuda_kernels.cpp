// SPDX-License-Identifier: Apache-2.0
#include "shipped_cuda_kernels.h"

#include <type_traits>
#include <utility>

#include "../../kernels/layer_norm.h"
#include "../../kernels/norm_chain.h"
#include "../../kernels/reduce_sum.h"
#include "../../kernels/rms_norm.h"
#include "../../kernels/sgemm.h"

void layer_norm_reference(const double*, const double*, const double*, double*, int, int);
void norm_chain_reference(const double*, const double*, const double*, const double*, double*, double*, double*, int,
                          int, double, std::uint64_t);
void reduce_sum_reference(const double*, double*, double*, std::int64_t);
void rms_norm_reference(const double*, const double*, double*, int, int);
void sgemm_reference(const double*, const double*, double*, int, int, int);

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

}  // namespace

std::vector<ShippedCudaKernel> shipped_cuda_kernels() {
  return {
      {"layer_norm", listed(kernels::layer_norm), listed(layer_norm_reference)},
      {"norm_chain", listed(kernels::norm_chain), listed(norm_chain_reference)},
      {"reduce_sum", listed(kernels::reduce_sum), listed(reduce_sum_reference)},
      {"rms_norm", listed(kernels::rms_norm), listed(rms_norm_reference)},
      {"sgemm", listed(kernels::sgemm), listed(sgemm_reference)},
  };
}

}  // namespace kagent
