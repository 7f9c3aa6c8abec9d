// SPDX-License-Identifier: Apache-2.0
#include "shipped_cuda_kernels.h"

#include <type_traits>
#include <utility>

#include "../../kernels/norm_chain.h"

void norm_chain_reference(const double*, const double*, const double*, const double*, double*, double*, double*, int,
                          int, double, std::uint64_t);

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
      {"norm_chain", listed(kernels::norm_chain), listed(norm_chain_reference)},
  };
}

}  // namespace kagent
