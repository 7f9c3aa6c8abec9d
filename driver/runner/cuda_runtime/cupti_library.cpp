// SPDX-License-Identifier: Apache-2.0
#include "runner/cuda_runtime/cupti_library.h"

#include <filesystem>
#include <vector>

#include <dlfcn.h>

namespace kagent::runner::cuda {
namespace {

namespace fs = std::filesystem;

// Where toolkits have it; the first is that of the toolkit that kagent was built with.
std::vector<fs::path> folders() {
  return {KAGENT_CUPTI_FOLDER, "/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64", "/usr/local/cuda/lib",
          "/usr/local/cuda/targets/x86_64-linux/lib"};
}

void* open(const fs::path& file, int how) {
  return ::dlopen(file.c_str(), RTLD_NOW | how);
}

void* open_cupti(std::string& problem) {
  std::error_code error;
  for (const fs::path& folder : folders()) {
    if (!fs::exists(folder / KAGENT_CUPTI_NAME, error)) continue;
    // CUPTI opens these by their bare names, and knows no folder to look in.
    open(folder / "libnvperf_target.so", RTLD_GLOBAL);
    open(folder / "libnvperf_host.so", RTLD_GLOBAL);
    if (void* library = open(folder / KAGENT_CUPTI_NAME, RTLD_LOCAL)) return library;
    problem = ::dlerror();
  }
  if (void* library = open(KAGENT_CUPTI_NAME, RTLD_LOCAL)) return library;
  if (problem.empty()) problem = std::string("there is no ") + KAGENT_CUPTI_NAME;
  return nullptr;
}

Cupti load() {
  Cupti loaded;
  void* library = open_cupti(loaded.problem);
  if (!library) return loaded;
  loaded.problem.clear();
#define KAGENT_LOAD(name)                                                         \
  loaded.name = reinterpret_cast<decltype(loaded.name)>(::dlsym(library, #name)); \
  if (!loaded.name && loaded.problem.empty()) loaded.problem = "this CUPTI has no " #name
  KAGENT_CUPTI_FUNCTIONS(KAGENT_LOAD);
#undef KAGENT_LOAD
  return loaded;
}

}  // namespace

const Cupti& cupti() {
  static const Cupti library = load();
  return library;
}

std::string explain(CUptiResult result) {
  switch (static_cast<int>(result)) {
    case 35:
      return "no permission for counters (ERR_NVGPUCTRPERM): load the driver with "
             "NVreg_RestrictProfilingToAdminUsers=0, or run as root";
    case 26:
      return "the counters are in use by another process";
    case 40:
      return "this virtual GPU has no counters";
    case 41:
      return "confidential computing forbids counters";
    case 43:
      return "counters do not work on a MIG instance";
    case 45:
      return "counters do not work under WSL";
    case 46:
      return "this CUPTI does not know the chip";
    default:
      break;
  }
  const char* text = nullptr;
  if (cupti().cuptiGetResultString) cupti().cuptiGetResultString(result, &text);
  return text ? text : "error " + std::to_string(static_cast<int>(result));
}

}  // namespace kagent::runner::cuda
