// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "values/error.h"
#include "values/tensor.h"

namespace kagent::spec {

// Reads a NumPy .npy file (versions 1 to 3) into C order. `dtype` is what the spec says: it must match the file's descr
// (bfloat16 and float8 have none of their own: 2-byte or 1-byte void or unsigned is taken). Refused with the reason:
// objects, big endian, structured types, a header that is truncated, too long or not what NumPy writes, a shape whose
// product overflows or does not fit the file.
Result<Tensor> read_npy(const std::filesystem::path& file, DType dtype);

// The shape alone, with the same checks; reads no more than the header.
Result<std::vector<std::int64_t>> read_npy_shape(const std::filesystem::path& file, DType dtype);

// Version 1.0, C order, data aligned to 64 bytes.
Result<void> write_npy(const std::filesystem::path& file, const Tensor& tensor);

// "64x1000", "scalar": a shape for a message.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace kagent::spec
