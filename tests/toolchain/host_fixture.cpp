// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host_fixture.h"

#include "toolchain/archive.h"

namespace kagent::toolchain {

namespace fs = std::filesystem;

namespace {

constexpr const char* kMain = R"(
#include <cstdio>
extern "C" void kagent_call(void* const* arguments);
int main() {
  NUMBER x[3] = {1, 2, 3}, y[3] = {};
  int n = 3;
  void* arguments[] = {x, y, &n};
  kagent_call(arguments);
  std::printf("%g %g %g", double(y[0]), double(y[1]), double(y[2]));
}
)";

}  // namespace

const fs::path& HostFixture::printing_runtime(const std::string& number) {
  return make_archive(kMain, {"-DNUMBER=" + number});
}

}  // namespace kagent::toolchain
