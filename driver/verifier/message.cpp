// SPDX-License-Identifier: Apache-2.0
#include "verifier/message.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace kagent::verifier {
namespace {

std::string amount(double value) {
  return value < 1e6 ? fmt::format("{:.4g}", value) : fmt::format("{:.2e}", value);
}

std::string over_tolerance(double ratio) {
  return std::isinf(ratio) ? "no error is tolerated" : fmt::format("{:.3g}x the tolerance", ratio);
}

template <class T>
std::string integer_text(const std::byte* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return std::to_string(value);
}

}  // namespace

std::string element_name(const std::string& parameter, const std::vector<std::int64_t>& index) {
  std::string text = parameter;
  for (const std::int64_t position : index) text += fmt::format("[{}]", position);
  return text;
}

std::string element_text(const Tensor& tensor, std::int64_t flat_index) {
  const std::byte* element = tensor.bytes.data() + static_cast<std::size_t>(flat_index) * size_bytes(tensor.dtype);
  switch (tensor.dtype) {
    case DType::int64:
      return integer_text<std::int64_t>(element);
    case DType::uint64:
      return integer_text<std::uint64_t>(element);
    case DType::boolean: {
      const auto byte = std::to_integer<unsigned>(*element);
      return byte <= 1 ? std::to_string(byte) : fmt::format("0x{:02x} (no bool)", byte);
    }
    case DType::float64:
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
    case DType::float8_e4m3:
    case DType::float8_e5m2:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
      return fmt::format("{:.17g}", tensor.at(flat_index));
  }
  std::unreachable();
}

std::pair<std::string, std::string> distinct_texts(DType dtype, double a, double b) {
  for (const int digits : {5, 9}) {
    std::pair texts{fmt::format("{:.{}g}", a, digits), fmt::format("{:.{}g}", b, digits)};
    if (texts.first != texts.second || (digits == 9 && dtype != DType::float64)) return texts;
  }
  return {fmt::format("{:.17g}", a), fmt::format("{:.17g}", b)};
}

std::string worst_element(const Measured& measured) {
  const OutputError& error = measured.error;
  std::string text = fmt::format("{}: got {}, expected {}", element_name(error.parameter, error.worst_index),
                                 measured.got_text, measured.expected_text);
  if (measured.exact)
    text += fmt::format(", off by {}, must be exact", amount(error.error_ulp));
  else if (measured.class_differs)
    text += ", one of them is not finite";
  else
    text += fmt::format(", {} ulp, {}", amount(error.error_ulp), over_tolerance(error.error_over_bound));
  return text + fmt::format("; {} of {} elements fail", error.failing_elements, measured.elements);
}

}  // namespace kagent::verifier
