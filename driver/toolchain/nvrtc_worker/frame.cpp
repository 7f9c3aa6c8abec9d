// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_worker/frame.h"

namespace kagent::toolchain {
namespace {

constexpr std::size_t kLengthBytes = 4;

void append_length(std::string& text, std::size_t length) {
  for (std::size_t byte = 0; byte < kLengthBytes; ++byte)
    text += static_cast<char>(static_cast<unsigned char>(length >> (8 * byte)));
}

std::uint32_t length_at(const std::string& text, std::size_t at) {
  std::uint32_t length = 0;
  for (std::size_t byte = 0; byte < kLengthBytes; ++byte)
    length |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + byte])) << (8 * byte);
  return length;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string text;
  append_length(text, frame.json.size());
  append_length(text, frame.bytes.size());
  return text + frame.json + frame.bytes;
}

std::optional<Frame> take_frame(std::string& received, bool& broken) {
  if (received.size() < 2 * kLengthBytes) return std::nullopt;
  const std::size_t json = length_at(received, 0), bytes = length_at(received, kLengthBytes);
  broken = json > kLargestPart || bytes > kLargestPart;
  if (broken || received.size() - 2 * kLengthBytes < json + bytes) return std::nullopt;
  Frame frame{received.substr(2 * kLengthBytes, json), received.substr(2 * kLengthBytes + json, bytes)};
  received.erase(0, 2 * kLengthBytes + json + bytes);
  return frame;
}

}  // namespace kagent::toolchain
