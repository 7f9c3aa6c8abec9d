// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/core.h>
#include <unistd.h>

#include "cli/devices.h"
#include "cli/finding.h"
#include "util/text.h"

namespace kagent::cli {
namespace {

namespace fs = std::filesystem;

// Where the toolkit's installers put it.
constexpr const char* kUsualToolkit = "/usr/local/cuda";

bool runs(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

// A program of the toolkit, in PATH or where it is usually installed; empty if it is in neither.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (const fs::path file = fs::path(rest.substr(0, end)) / name; end > 0 && runs(file)) return file.string();
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  for (const char* folder : {"bin", "compute-sanitizer"})
    if (const fs::path file = fs::path(kUsualToolkit) / folder / name; runs(file)) return file.string();
  return {};
}

Finding toolkit_program(const std::string& name, const std::string& without, VersionLine line) {
  const std::string program = find_program(name);
  if (program.empty()) return {name, false, fmt::format("neither in PATH nor in {}", kUsualToolkit), without};
  return tool(name, {program, "--version"}, without, line);
}

Finding own_program(const std::string& part, const std::string& name, const std::string& without) {
  const fs::path program = find_own_program(name);
  if (!program.empty()) return {part, true, program.string(), without};
  return {part, false, "kagent was built without CUDA (KAGENT_CUDA)", without};
}

// Started, since its library may be missing where the program is not.
Finding nvrtc() {
  Finding finding = own_program("NVRTC worker", "kagent-nvrtc-worker", "kernels of style \"kernel\" are not tuned");
  if (!finding.present) return finding;
  return tool(finding.part, {finding.found, "--version"}, finding.without);
}

Finding gpus() {
  Finding finding{"GPU", false, "", "CUDA kernels are not tuned on this machine; builds pick what others tuned"};
  const auto& found = devices();
  if (!found) {
    finding.found = util::clean(found.error().message);
    return finding;
  }
  for (const Device& device : *found)
    finding.found +=
        fmt::format("{}{} ({})", finding.found.empty() ? "" : ", ", util::clean(device.name), device.architecture());
  finding.present = !found->empty();
  if (finding.present)
    finding.found += "; the driver supports CUDA " + found->front().cuda_version();
  else
    finding.found = "none";
  return finding;
}

// Loaded when a kernel is profiled.
Finding cupti(const std::string& nvcc) {
  Finding finding{"CUPTI", false, "libcupti.so not found",
                  "no counters: bottlenecks are told from time and the work in kernel.json"};
  for (const fs::path& toolkit : {fs::path(nvcc).parent_path().parent_path(), fs::path(kUsualToolkit)})
    for (const char* place : {"extras/CUPTI/lib64/libcupti.so", "lib64/libcupti.so"})
      if (std::error_code error; !toolkit.empty() && fs::exists(toolkit / place, error))
        return {finding.part, true, (toolkit / place).string(), finding.without};
  return finding;
}

}  // namespace

std::vector<Finding> cuda_findings() {
  return {
      toolkit_program("nvcc", "projects with CUDA kernels cannot be built or tuned", VersionLine::release),
      nvrtc(),
      own_program("CUDA runner", "kagent-cuda-runner", "CUDA kernels are not tuned"),
      gpus(),
      toolkit_program("compute-sanitizer", "finalists are not looked at for races and accesses outside of buffers",
                      VersionLine::first),
      toolkit_program("nvdisasm", "what machine code is made of is not told (Python has it as nvidia-cuda-nvdisasm)",
                      VersionLine::release),
      cupti(find_program("nvcc"))};
}

}  // namespace kagent::cli
