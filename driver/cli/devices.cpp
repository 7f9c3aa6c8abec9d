// SPDX-License-Identifier: Apache-2.0
#include "cli/devices.h"

#include <system_error>

#include <fmt/core.h>

#include "runner/cuda_runner.h"

namespace kagent::cli {

namespace fs = std::filesystem;

fs::path find_own_program(const std::string& name) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const fs::path program = self.parent_path().parent_path() / "libexec/kagent" / name;
  return fs::exists(program, error) ? program : fs::path();
}

const Result<std::vector<Device>>& devices() {
  static const Result<std::vector<Device>> found = []() -> Result<std::vector<Device>> {
    const fs::path program = find_own_program("kagent-cuda-runner");
    if (program.empty())
      return failure("kagent was built without CUDA",
                     "build it where the CUDA Toolkit is found, with -DKAGENT_CUDA=ON");
    return runner::probe_devices(program);
  }();
  return found;
}

std::optional<StageError> device_obstacle(const std::string& architecture, const Result<std::vector<Device>>& devices) {
  if (!devices) return devices.error();
  std::string there;
  for (const Device& device : *devices) {
    if (device.runs(architecture)) return {};
    there += fmt::format("{}{} ({})", there.empty() ? "" : ", ", device.name, device.architecture());
  }
  return StageError{fmt::format("no GPU here is {}{}", architecture, there.empty() ? "" : "; there is " + there),
                    "go to a machine with such a GPU; builds here pick what was tuned there"};
}

}  // namespace kagent::cli
