// SPDX-License-Identifier: Apache-2.0
#include "values/tensor.h"

#include <utility>

namespace kagent {

Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor{dtype, std::move(shape), {}};
  tensor.bytes.resize(static_cast<std::size_t>(tensor.element_count()) * size_bytes(dtype));
  return tensor;
}

}  // namespace kagent
