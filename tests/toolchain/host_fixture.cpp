// SPDX-License-Identifier: Apache-2.0
#include "toolchain/host_fixture.h"

#include <map>
#include <stdexcept>
#include <vector>

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

void must_run(std::vector<std::string> words) {
  util::Command command;
  command.argv = std::move(words);
  command.environment = util::minimal_environment();
  const auto finished = util::run(command);
  if (!finished || !finished->ok()) throw std::runtime_error(command.argv.front() + " failed");
}

}  // namespace

const fs::path& HostFixture::printing_runtime(const std::string& number) {
  static const util::TemporaryFolder folder;
  static std::map<std::string, fs::path> made;
  fs::path& archive = made[number];
  if (!archive.empty()) return archive;
  const fs::path source = folder.path() / "main.cpp", object = folder.path() / (number + ".o");
  write(source, kMain);
  must_run({"/usr/bin/c++", "-O1", "-fPIC", "-DNUMBER=" + number, "-c", source.string(), "-o", object.string()});
  archive = folder.path() / ("lib" + number + ".a");
  must_run({"ar", "rcs", archive.string(), object.string()});
  return archive;
}

}  // namespace kagent::toolchain
