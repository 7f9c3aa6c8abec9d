// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "values/decision.h"
#include "values/outcome.h"

namespace kagent {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 20> kOutcomes{{
    {Outcome::ok, "ok"},
    {Outcome::gate_rejected, "gate_rejected"},
    {Outcome::compile_failed, "compile_failed"},
    {Outcome::limits_exceeded, "limits_exceeded"},
    {Outcome::launch_failed, "launch_failed"},
    {Outcome::timed_out, "timed_out"},
    {Outcome::crashed, "crashed"},
    {Outcome::illegal_access, "illegal_access"},
    {Outcome::misaligned_access, "misaligned_access"},
    {Outcome::device_fault, "device_fault"},
    {Outcome::memory_exceeded, "memory_exceeded"},
    {Outcome::output_exceeded, "output_exceeded"},
    {Outcome::policy_violation, "policy_violation"},
    {Outcome::wrong_result, "wrong_result"},
    {Outcome::unstable, "unstable"},
    {Outcome::sanitizer_error, "sanitizer_error"},
    {Outcome::duplicate, "duplicate"},
    {Outcome::slower, "slower"},
    {Outcome::same, "same"},
    {Outcome::ambiguous, "ambiguous"},
}};

}  // namespace

std::string_view name(Outcome outcome) {
  for (const auto& [value, text] : kOutcomes)
    if (value == outcome) return text;
  std::unreachable();
}

std::optional<Outcome> parse_outcome(std::string_view text) {
  for (const auto& [value, known] : kOutcomes)
    if (known == text) return value;
  return std::nullopt;
}

std::string_view name(Comparison comparison) {
  switch (comparison) {
    case Comparison::faster:
      return "faster";
    case Comparison::slower:
      return "slower";
    case Comparison::same:
      return "same";
    case Comparison::ambiguous:
      return "ambiguous";
  }
  std::unreachable();
}

}  // namespace kagent
