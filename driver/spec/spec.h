// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "values/case_data.h"
#include "values/kernel_spec.h"

namespace kagent::spec {

// Reads <folder>/kernel.json strictly. All problems at once, each with its JSON pointer, the bad value and the fix
// (message has one line each).
Result<KernelSpec> load(const std::filesystem::path& folder);

// Extents of a parameter under these sizes; an error names the expression. Product checked against overflow.
Result<std::vector<std::int64_t>> extents(const Parameter& parameter, const Sizes& sizes);
Result<std::int64_t> evaluate(const Expression& expression, const Sizes& sizes);

// Contents for one call. Recorded inputs are read from their .npy (dtype and shape checked), all others and the scalars
// that the case does not fix are generated from their recipe with a stream that depends on seed, case and name alone.
Result<CallInputs> generate_inputs(const KernelSpec& spec, const Case& base, std::uint64_t seed);
// Expected values that the case records; tensors of floating parameters as float64. Absent if it records none.
Result<std::optional<Expected>> recorded_expected(const KernelSpec& spec, const Case& base);

// The case whose sizes edge inputs are made for: the smallest that is large enough to have vector and tile borders.
// Absent if every case is empty.
std::optional<Case> edge_case(const KernelSpec& spec);
// Names of all edge inputs ("nan-first", "largest-finite", ...). See docs/spec.md for the list and what each expects.
std::vector<std::string> edge_names();
// The edge inputs that apply to the dtypes of the inputs, less those of stress.skip, for one case.
Result<std::vector<CallInputs>> edge_inputs(const KernelSpec& spec, const Case& base, std::uint64_t seed);

// Cases that nobody wrote down: sizes near those of the spec's cases (1, +-1, primes, doubled) and secret ones, all of
// which satisfy spec.requirements, none larger than the largest case; untimed. Plus "empty" (one size 0) where allowed.
std::vector<Case> hidden_cases(const KernelSpec& spec, std::uint64_t seed);

}  // namespace kagent::spec
