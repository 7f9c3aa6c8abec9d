// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "values/error.h"

namespace kagent::spec {

// The dictionary at the start of a .npy file.
struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses the Python dictionary that NumPy writes, and no other Python.
Result<NpyHeader> parse_npy_dictionary(std::string_view text);

}  // namespace kagent::spec
