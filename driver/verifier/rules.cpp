// SPDX-License-Identifier: Apache-2.0
#include "verifier/rules.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "verifier/message.h"

namespace kagent::verifier {
namespace {

// A candidate's error may be this many times the baseline's own (FlashAttention's rule), plus the floor below.
constexpr double kBaselineFactor = 2;
// With so many elements, the largest error and the norm of two sound implementations no longer differ twofold by luck.
constexpr double kManyElements = 64;
// The least share of that: at K = 4096 a tf32 product still errs by seven times what it adds.
constexpr double kLeastLuck = 0.125;

}  // namespace

std::string broken_tolerance(const Measured& measured, const Bounds& bounds) {
  if (measured.error.failing_elements > 0) return worst_element(measured);
  // A norm says nothing where all that is expected lies within atol, or within rounding of the summed products.
  const double allowed = bounds.norm * measured.expected_rms + bounds.reduction * measured.magnitude_rms;
  if (measured.expected_rms <= bounds.atol || measured.error_rms <= allowed) return {};
  return fmt::format("{}: relative norm of the error is {:.2g}, {:.3g}x its limit; worst element {}",
                     measured.error.parameter, measured.error.relative_norm_error, measured.error_rms / allowed,
                     worst_element(measured));
}

// Twice the baseline's own error on the same inputs. The floor: one unit in the last place at the scale of the largest
// magnitude S, about what a sum of K products errs by whatever its order, and far under what rounding the inputs to a
// lower precision costs (2^-9 S / sqrt(K) for bf16, 2^-12 S / sqrt(K) for tf32). Where elements are few, the baseline's
// own error may be small by mere luck, so that a quarter of the noise (u sqrt(K) S, one standard deviation of a sum
// of like signs) comes on top. It shrinks with the number of elements, but not to nothing: elements that share a sum,
// as a softmax's row does, share its error, and a row more or less lucky than the baseline's is no loss of precision.
std::string broken_baseline_rule(const Parameter& parameter, const Measured& measured, const OutputError& baseline) {
  if (measured.finite == 0) return {};
  const double luck = std::clamp(kManyElements / static_cast<double>(measured.finite), kLeastLuck, 1.0) / 4;
  const double allowed = kBaselineFactor * baseline.max_abs_error + luck * measured.largest_noise +
                         spacing(parameter.dtype, std::max(measured.largest_magnitude, measured.largest_expected));
  if (measured.error.max_abs_error > allowed)
    return fmt::format(
        "{}: largest error {:.3g} where the baseline's own is {:.3g}, {:.3g}x what that allows (less "
        "precision than the baseline?); worst element {}",
        parameter.name, measured.error.max_abs_error, baseline.max_abs_error, measured.error.max_abs_error / allowed,
        worst_element(measured));
  const double baseline_rms = baseline.relative_norm_error * measured.expected_rms;
  const double allowed_rms =
      kBaselineFactor * baseline_rms + luck * measured.noise_rms +
      2 * unit_roundoff(parameter.dtype) * std::max(measured.magnitude_rms, measured.expected_rms);
  if (measured.expected_rms == 0 || !(measured.error_rms > allowed_rms)) return {};
  return fmt::format(
      "{}: relative norm of the error {:.3g} where the baseline's own is {:.3g}, {:.3g}x what that allows "
      "(less precision than the baseline?); worst element {}",
      parameter.name, measured.error.relative_norm_error, baseline.relative_norm_error,
      measured.error_rms / allowed_rms, worst_element(measured));
}

}  // namespace kagent::verifier
