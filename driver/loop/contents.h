// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "runner/revisions.h"
#include "values/case_data.h"
#include "values/error.h"
#include "values/kernel_spec.h"

namespace kagent::loop {

// Contents for the timed calls of one case, new ones for each call, so that nothing remembered from an earlier call is
// of use. Large buffers are not generated anew each time: they are pieces of two generated ones, shifted and joined at
// secret places, whole rows at a time; of very large ones an eighth is replaced each time, at secret places, since
// moving gigabytes would take longer than measuring. What the spec records stays as it is, and so do the scalars, which
// a program takes by value: they are drawn once.
class FreshContents {
 public:
  // Two that go on from one would give different contents the same revision.
  FreshContents(const FreshContents&) = delete;
  FreshContents& operator=(const FreshContents&) = delete;
  FreshContents(FreshContents&&) = default;
  FreshContents& operator=(FreshContents&&) = default;
  // `spec` and `timed` are referred to, not copied.
  static Result<FreshContents> make(const KernelSpec& spec, const Case& timed, std::uint64_t seed);

  // Stays as it is until the next one is asked for.
  Result<const CallInputs*> next();
  // What changed between them.
  const runner::Revisions& revisions() const { return revisions_; }

 private:
  FreshContents(const KernelSpec& spec, const Case& timed, std::uint64_t seed);
  void mix(Tensor& tensor, const Tensor& other, Distribution distribution);
  bool is_large(const std::string& name, const Tensor& tensor) const;
  void patch(const std::string& name, Tensor& tensor, const Tensor& other);

  const KernelSpec* spec_;
  const Case* timed_;
  std::mt19937_64 random_;
  std::map<std::string, double> scalars_;
  std::vector<CallInputs> pool_;  // two if they are large, else empty
  CallInputs current_;
  runner::Revisions revisions_;  // of what is very large, or recorded
};

// Bytes that one call reads.
std::int64_t input_bytes(const CallInputs& inputs);

// Bytes of all buffers of one call.
Result<std::int64_t> buffer_bytes(const KernelSpec& spec, const Case& timed);

}  // namespace kagent::loop
