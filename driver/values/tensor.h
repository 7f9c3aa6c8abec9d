// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "values/dtype.h"

namespace kagent {

// Dense array in C order, little endian. A scalar has an empty shape and one element; a zero extent has none.
struct Tensor {
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // element_count() * size_bytes(dtype)

  std::int64_t element_count() const {
    std::int64_t count = 1;
    for (std::int64_t extent : shape) count *= extent;
    return count;
  }
  double at(std::int64_t flat_index) const {
    return load_as_double(dtype, bytes.data() + static_cast<std::size_t>(flat_index) * size_bytes(dtype));
  }
  void set(std::int64_t flat_index, double value) {
    store_from_double(dtype, value, bytes.data() + static_cast<std::size_t>(flat_index) * size_bytes(dtype));
  }
};

// A zero-filled tensor. The caller has checked that the product of the extents neither overflows nor is negative.
Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape);

}  // namespace kagent
