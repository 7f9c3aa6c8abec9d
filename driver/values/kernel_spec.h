// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/dtype.h"
#include "values/expression.h"
#include "values/launch.h"

namespace kagent {

enum class Style { launcher, kernel };
enum class ParameterKind { input, output, inout, size, scalar, workspace, stream };

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::input;
  DType dtype = DType::float32;      // without meaning for stream
  std::vector<Expression> shape;     // buffers only: extents, C order, over the sizes
  std::int64_t alignment_bytes = 0;  // buffers: what the entry may rely on; 0 means the dtype's own size
  bool constant_memory = false;      // style kernel, inputs: not passed, but copied to the __constant__ of this name

  bool is_buffer() const {
    return kind == ParameterKind::input || kind == ParameterKind::output || kind == ParameterKind::inout ||
           kind == ParameterKind::workspace;
  }
  bool is_read() const { return kind == ParameterKind::input || kind == ParameterKind::inout; }
  bool is_written() const { return kind == ParameterKind::output || kind == ParameterKind::inout; }
};

using Sizes = std::map<std::string, std::int64_t>;

struct Case {
  std::string name;
  Sizes sizes;                                            // every size parameter
  std::map<std::string, double> scalars;                  // fixed scalar values; the others are generated
  std::map<std::string, std::filesystem::path> inputs;    // absolute .npy files; the others are generated
  std::map<std::string, std::filesystem::path> expected;  // absolute .npy files
  bool timed = false;
  double weight = 1.0;  // share in the weighted speedup, over the timed cases; > 0
};

// |candidate - reference| <= atol + rtol |reference| + 4 u sqrt(K) S   (facts: Higham 3.1, probabilistic bound)
// with u the unit roundoff of the dtype, K the reduction length, and S the sum of absolute products: for a
// contraction the reference applied to the absolute inputs, else |reference|.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  std::optional<Expression> reduction_length;  // K, over the sizes; absent: the third term is 0
  bool contraction = false;
};

// Which times decide, where both are measured: of calls that find the caches swept, or of calls in a row.
enum class CacheState { cold, hot };

enum class Distribution { normal, uniform, log_uniform, integers, one_hot, constant };

struct InputRecipe {
  Distribution distribution = Distribution::normal;
  double mean = 0, stddev = 1;  // normal
  double low = 0, high = 1;     // uniform [low, high); integers [low, high] inclusive; log_uniform in magnitude
  double value = 0;             // constant
};

struct Tunable {
  std::string name;                  // a macro name
  std::vector<std::int64_t> values;  // distinct, in the order of the file, not empty
};

struct Reference {
  std::filesystem::path source;  // absolute
  std::string function;
};

struct Rules {
  std::vector<std::string> libraries;  // names for the linker, without "lib" and ending
  int max_edits = 3;
  bool allow_algorithm_change = false;
  bool allow_nondeterminism = false;
};

struct Goal {
  std::optional<double> roofline;            // share in (0, 1]
  double max_regression = 0.01;              // a timed case may be slower by this share
  double min_gain = 0.01;                    // weighted gain that counts as faster; never under 0.005 across processes
  CacheState decided_by = CacheState::cold;  // CUDA; on CPUs long calls are measured cold and short ones hot
};

// kernel.json, checked: every name refers to something, every expression parses over the names it may use.
struct KernelSpec {
  std::string kernel;
  Style style = Style::launcher;
  std::string entry;                   // possibly qualified: "ns::softmax_forward"
  std::optional<Launch> launch;        // style kernel
  bool architecture_specific = false;  // CUDA: tuned only where it is built for sm_90a, say, and not sm_90 (wgmma)
  std::vector<Parameter> parameters;
  std::vector<Case> cases;
  std::optional<Reference> reference;
  std::map<std::string, Tolerance> tolerance;  // every written floating parameter has one (dtype default if not given)
  std::map<std::string, InputRecipe> inputs;   // recipes of inputs and scalars
  std::vector<std::string> stress_skip;        // names of edge inputs that the operation does not define
  std::string stress_why;
  std::optional<Expression> flops, bytes;  // work per call, over the sizes
  std::vector<Tunable> tunables;
  std::vector<Expression> constraints;   // over the tunables; 0 means invalid
  std::vector<Expression> requirements;  // "requires": over the sizes; sizes that give 0 are never tried
  Rules rules;
  Goal goal;
  std::filesystem::path folder;              // the golden folder, absolute
  std::vector<std::filesystem::path> files;  // every file the spec is made of, absolute: kernel.json, .npy, reference

  const Parameter* find_parameter(std::string_view name) const {
    for (const Parameter& parameter : parameters)
      if (parameter.name == name) return &parameter;
    return nullptr;
  }
  const Case* find_case(std::string_view name) const {
    for (const Case& known : cases)
      if (known.name == name) return &known;
    return nullptr;
  }
};

}  // namespace kagent
