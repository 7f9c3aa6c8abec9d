// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <array>

#include <openssl/evp.h>

#include "util/files.h"

namespace kagent::util {

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw InternalError("libcrypto has no SHA-256");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * length);
  for (unsigned int i = 0; i < length; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

Result<std::string> sha256_file(const std::filesystem::path& path) {
  auto contents = read_file(path);
  if (!contents) return std::unexpected(contents.error());
  return sha256(*contents);
}

}  // namespace kagent::util
