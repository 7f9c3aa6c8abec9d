// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "verifier/elements.h"
#include "verifier/message.h"

namespace kagent::verifier {
namespace {

// Of up to gigabytes, which == of the vectors may go through byte by byte.
bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.bytes.size() == b.bytes.size() &&
         (a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0);
}

}  // namespace

std::vector<std::int64_t> unflatten(const Tensor& tensor, std::int64_t flat_index) {
  std::vector<std::int64_t> index(tensor.shape.size());
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = flat_index % tensor.shape[axis];
    flat_index /= tensor.shape[axis];
  }
  return index;
}

Differences bit_differences(const Tensor& a, const Tensor& b) {
  Differences differences;
  if (same_bytes(a, b)) return differences;
  const std::size_t width = size_bytes(a.dtype);
  const std::int64_t count = a.element_count();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * width;
    if (std::memcmp(a.bytes.data() + offset, b.bytes.data() + offset, width) == 0) continue;
    if (differences.count++ == 0) differences.first = i;
  }
  return differences;
}

Measured measure_exact(const Parameter& parameter, const Tensor& got, const Tensor& expected) {
  Measured measured;
  measured.error.parameter = parameter.name;
  measured.exact = true;
  measured.elements = got.element_count();
  if (same_bytes(got, expected)) return measured;
  const std::size_t width = size_bytes(got.dtype);
  std::int64_t worst = -1;
  double worst_difference = -1, signed_sum = 0, error_squares = 0, expected_squares = 0;
  for (std::int64_t i = 0; i < measured.elements; ++i) {
    const std::size_t offset = static_cast<std::size_t>(i) * width;
    const double wanted = expected.at(i);
    expected_squares += wanted * wanted;
    if (std::memcmp(got.bytes.data() + offset, expected.bytes.data() + offset, width) == 0) continue;
    ++measured.error.failing_elements;
    const double difference = got.at(i) - wanted;
    signed_sum += difference;
    error_squares += difference * difference;
    if (std::abs(difference) > worst_difference) {
      worst_difference = std::abs(difference);
      worst = i;
    }
  }
  measured.error.worst_index = unflatten(got, worst);
  measured.error.got = got.at(worst);
  measured.error.expected = expected.at(worst);
  measured.error.error_ulp = worst_difference;
  measured.error.error_over_bound = std::numeric_limits<double>::infinity();
  measured.error.max_abs_error = worst_difference;
  measured.error.mean_signed_error = signed_sum / static_cast<double>(measured.elements);
  measured.error.relative_norm_error =
      expected_squares > 0 ? std::sqrt(error_squares / expected_squares) : std::numeric_limits<double>::infinity();
  measured.got_text = element_text(got, worst);
  measured.expected_text = element_text(expected, worst);
  return measured;
}

}  // namespace kagent::verifier
