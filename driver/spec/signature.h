// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "values/dtype.h"
#include "values/error.h"

namespace kagent::spec {

// A parameter of a function as its declaration says.
struct SignatureParameter {
  std::string name;
  std::string type;            // as written, without names and default: "const float*"
  std::optional<DType> dtype;  // of the value, or of what the pointer points to; absent for void* and streams
  bool is_pointer = false;
  bool is_const = false;  // what the pointer points to is not written
  bool is_stream = false;
};

// A parameter of a template.
struct TemplateParameter {
  std::string name;
  bool is_type = false;
  std::string preset;  // its default as written, or empty
};

struct Signature {
  std::string entry;  // with its namespaces
  int line = 1;       // where it is declared
  std::vector<SignatureParameter> parameters;
  bool is_kernel = false;                              // a __global__ function
  std::vector<TemplateParameter> template_parameters;  // of a kernel; types are taken to be float
};

// Finds the function `entry` in C++ source text by reading its tokens (nothing is preprocessed or compiled). The entry
// may leave namespaces out if that is unambiguous. Refused, with the fix: templates that are no kernels, static
// functions, overloads, members, references, types that are no dtype, results other than void or cudaError_t.
Result<Signature> find_signature(std::string_view source, std::string_view entry);

}  // namespace kagent::spec
