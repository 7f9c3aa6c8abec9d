// SPDX-License-Identifier: Apache-2.0
#include "proposer/embedded.h"

namespace kagent::proposer {

std::string_view embedded_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files())
    if (file.name == name) return file.text;
  return {};
}

}  // namespace kagent::proposer
