// SPDX-License-Identifier: Apache-2.0
#include "runner/device_program.h"

#include <array>
#include <cstdlib>
#include <set>
#include <string_view>
#include <system_error>

namespace kagent::runner {

namespace fs = std::filesystem;

namespace {

constexpr std::array kDriverFolders{"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
                                    // Where container run times and WSL put the driver.
                                    "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib",
                                    // The driver's libraries for a newer toolkit than the driver was made for.
                                    "/usr/local/cuda/compat"};
constexpr auto kLoaderTime = std::chrono::seconds(5);

bool has(const fs::path& folder, const std::string& library) {
  std::error_code error;
  return folder.is_absolute() && fs::exists(folder / library, error);
}

// "	libcuda.so.1 (libc6,x86-64) => /usr/lib/x86_64-linux-gnu/libcuda.so.1"
fs::path folder_in_loaders_cache(const std::string& library) {
  util::Command command;
  command.argv = {"/sbin/ldconfig", "-p"};
  command.environment = util::minimal_environment();
  command.limits.wall = kLoaderTime;
  const auto listed = util::run(command);
  if (!listed || !listed->ok()) return {};
  const std::string& text = listed->standard_output;
  for (std::size_t at = text.find("\t" + library + " ("); at != std::string::npos;
       at = text.find("\t" + library + " (", at + 1)) {
    const std::size_t arrow = text.find("=> ", at), end = text.find('\n', at);
    if (arrow == std::string::npos || arrow > end) continue;
    const std::string_view kind = std::string_view(text).substr(at, arrow - at);
    if (sizeof(void*) == 8 && kind.find("64") == std::string_view::npos) continue;
    const fs::path file = text.substr(arrow + 3, end - arrow - 3);
    if (has(file.parent_path(), library)) return file.parent_path();
  }
  return {};
}

std::vector<fs::path> folders_of(const char* list) {
  std::vector<fs::path> folders;
  std::string_view rest = list != nullptr ? list : "";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    folders.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

// Where the libraries of the driver are, each once: as they are named, and as the names resolve.
std::vector<fs::path> driver_folders() {
  std::set<fs::path> seen;
  std::vector<fs::path> folders;
  for (const char* library : {"libcuda.so.1", "libnvidia-ml.so.1"}) {
    const fs::path folder = folder_of_library(library);
    if (folder.empty()) continue;
    std::error_code error;
    const fs::path real = fs::canonical(folder / library, error).parent_path();
    for (const fs::path& one : {folder, real})
      if (!one.empty() && seen.insert(one).second) folders.push_back(one);
  }
  return folders;
}

}  // namespace

fs::path folder_of_library(const std::string& library) {
  for (const fs::path& folder : folders_of(std::getenv("LD_LIBRARY_PATH")))
    if (has(folder, library)) return folder;
  if (fs::path cached = folder_in_loaders_cache(library); !cached.empty()) return cached;
  for (const char* folder : kDriverFolders)
    if (has(folder, library)) return folder;
  return {};
}

std::vector<std::string> device_environment(const std::string& uuid) {
  std::vector<std::string> environment = util::minimal_environment();
  std::string path = "LD_LIBRARY_PATH=";
  const auto folders = driver_folders();
  for (const fs::path& folder : folders) path += (path.back() == '=' ? "" : ":") + folder.string();
  if (!folders.empty()) environment.push_back(path);
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (!uuid.empty())
    environment.push_back("CUDA_VISIBLE_DEVICES=" + uuid);
  else if (visible != nullptr)
    environment.push_back("CUDA_VISIBLE_DEVICES=" + std::string(visible));
  // The cache would be shared between candidates; loading late would count as time of the first call.
  environment.emplace_back("CUDA_CACHE_DISABLE=1");
  environment.emplace_back("CUDA_MODULE_LOADING=EAGER");
  return environment;
}

std::vector<fs::path> device_nodes() {
  std::vector<fs::path> nodes;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") || name == "dxg" || name.starts_with("nvhost") || name == "nvmap")
      nodes.push_back(entry.path());
  }
  return nodes;
}

util::Command sandboxed_with_device(const util::Command& command, const util::SandboxState& sandbox,
                                    const std::vector<fs::path>& also) {
  util::SandboxView view;
  view.read_only = driver_folders();
  view.read_only.emplace_back("/sys");
  view.read_only.emplace_back(command.argv.front());
  view.read_only.insert(view.read_only.end(), also.begin(), also.end());
  view.devices = device_nodes();
  return util::sandboxed(command, view, sandbox);
}

}  // namespace kagent::runner
