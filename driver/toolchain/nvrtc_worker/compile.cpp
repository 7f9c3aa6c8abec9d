// SPDX-License-Identifier: Apache-2.0
#include "toolchain/nvrtc_worker/compile.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <cuda.h>
#include <nvrtc.h>

#include "toolchain/nvrtc_worker/shims.h"

// The first toolkit whose NVRTC precompiles headers (CUDA 12.8).
#if CUDA_VERSION >= 12080
#define KAGENT_NVRTC_PRECOMPILES 1
#else
#define KAGENT_NVRTC_PRECOMPILES 0
#endif

namespace kagent::toolchain {
namespace {

using Clock = std::chrono::steady_clock;

// The heap holds one precompiled header at a time: all of cub takes 200 MiB.
[[maybe_unused]] constexpr std::size_t kHeapBytes = std::size_t{512} << 20;
// Different sets of headers, since kernels of one project include the same few.
constexpr std::size_t kMostKnown = 8;

class Program {
 public:
  Program(const std::string& source, const std::string& name) {
    std::vector<const char*> texts, names;
    for (const Shim& shim : shims()) {
      texts.push_back(shim.text);
      names.push_back(shim.name);
    }
    status_ = nvrtcCreateProgram(&program_, source.c_str(), name.c_str(), static_cast<int>(texts.size()), texts.data(),
                                 names.data());
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (program_ != nullptr) nvrtcDestroyProgram(&program_);
  }
  nvrtcResult status() const { return status_; }
  nvrtcProgram get() const { return program_; }

  nvrtcResult compile(const std::vector<std::string>& options) const {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    return nvrtcCompileProgram(program_, static_cast<int>(words.size()), words.data());
  }
  std::string log() const {
    std::size_t bytes = 0;
    if (nvrtcGetProgramLogSize(program_, &bytes) != NVRTC_SUCCESS || bytes <= 1) return {};
    std::string text(bytes, '\0');
    if (nvrtcGetProgramLog(program_, text.data()) != NVRTC_SUCCESS) return {};
    text.pop_back();  // the final zero
    return text;
  }
  std::string cubin() const {
    std::size_t bytes = 0;
    if (nvrtcGetCUBINSize(program_, &bytes) != NVRTC_SUCCESS || bytes == 0) return {};
    std::string image(bytes, '\0');
    return nvrtcGetCUBIN(program_, image.data()) == NVRTC_SUCCESS ? image : std::string();
  }
  // Empty if the program has none of that name.
  std::string lowered_name(const std::string& expression) const {
    const char* lowered = nullptr;
    const bool found = nvrtcGetLoweredName(program_, expression.c_str(), &lowered) == NVRTC_SUCCESS;
    return found && lowered != nullptr ? lowered : std::string();
  }

 private:
  nvrtcProgram program_ = nullptr;
  nvrtcResult status_;
};

struct Deadline {
  Clock::time_point at;
  // Asked by NVRTC while it compiles, from whichever thread. It must not take its word back, and a clock does not.
  static int passed(void* deadline, void*) {
    return Clock::now() >= static_cast<const Deadline*>(deadline)->at ? 1 : 0;
  }
};

NvrtcAnswer broken(nvrtcResult status) {
  NvrtcAnswer answer;
  answer.problem = nvrtcGetErrorString(status);
  return answer;
}

nvrtcResult add_names(const Program& program, const NvrtcJob& job) {
  std::vector<std::string> names = job.symbols;
  if (!job.instance.empty()) names.push_back(job.instance);
  for (const std::string& name : names)
    if (const nvrtcResult added = nvrtcAddNameExpression(program.get(), name.c_str()); added != NVRTC_SUCCESS)
      return added;
  return NVRTC_SUCCESS;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\n';
  return text;
}

std::string including(const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) text += "#include <" + header + ">\n";
  return text;
}

}  // namespace

std::string nvrtc_version() {
  int major = 0, minor = 0;
  return nvrtcVersion(&major, &minor) == NVRTC_SUCCESS ? std::to_string(major) + "." + std::to_string(minor)
                                                       : std::string();
}

bool is_allowed_option(const std::string& option) {
  static constexpr std::array<std::string_view, 26> kPrefixes = {"-D",
                                                                 "-U",
                                                                 "-I",
                                                                 "--define-macro=",
                                                                 "--undefine-macro=",
                                                                 "--include-path=",
                                                                 "--pre-include=",
                                                                 "-std=",
                                                                 "--std=",
                                                                 "-arch=",
                                                                 "--gpu-architecture=",
                                                                 "--maxrregcount=",
                                                                 "-maxrregcount=",
                                                                 "--fmad=",
                                                                 "-fmad=",
                                                                 "--ftz=",
                                                                 "-ftz=",
                                                                 "--prec-div=",
                                                                 "-prec-div=",
                                                                 "--prec-sqrt=",
                                                                 "-prec-sqrt=",
                                                                 "--diag-suppress=",
                                                                 "-diag-suppress=",
                                                                 "--diag-warn=",
                                                                 "--diag-error=",
                                                                 "--ptxas-options="};
  static constexpr std::array<std::string_view, 14> kWhole = {"--use_fast_math",
                                                              "-use_fast_math",
                                                              "-lineinfo",
                                                              "--generate-line-info",
                                                              "-w",
                                                              "--restrict",
                                                              "-restrict",
                                                              "-no-cache",
                                                              "--device-int128",
                                                              "--extra-device-vectorization",
                                                              "-G",
                                                              "-dopt=on",
                                                              "--modify-stack-limit=false",
                                                              "--device-as-default-execution-space"};
  // Its own output files would land where the worker can write; -v and -O levels are what is left of these options.
  if (option.starts_with("--ptxas-options="))
    return option == "--ptxas-options=-v" || option.starts_with("--ptxas-options=-O") ||
           option.starts_with("--ptxas-options=-dlcm") || option.starts_with("--ptxas-options=-dscm");
  return std::ranges::find(kWhole, option) != kWhole.end() ||
         std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return option.starts_with(prefix); });
}

// The file with the job's headers in their compiled form; empty if there are none or it cannot be made.
std::string NvrtcCompiler::precompiled([[maybe_unused]] const NvrtcJob& job) {
#if KAGENT_NVRTC_PRECOMPILES
  if (job.headers.empty()) return {};
  const std::string key = joined(job.options) + '\n' + joined(job.headers);
  for (const auto& [known, file] : known_)
    if (known == key) return file;
  if (known_.empty()) nvrtcSetPCHHeapSize(kHeapBytes);
  if (known_.size() >= kMostKnown) return {};
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  std::string file = (folder / ("kagent-nvrtc-" + std::to_string(known_.size()) + ".pch")).string();
  std::vector<std::string> options = job.options;
  options.push_back("--create-pch=" + file);
  options.push_back("--pch-messages=false");
  const Program program(including(job.headers), "headers.cu");
  const bool made = program.status() == NVRTC_SUCCESS && program.compile(options) == NVRTC_SUCCESS &&
                    nvrtcGetPCHCreateStatus(program.get()) == NVRTC_SUCCESS;
  if (!made) file.clear();
  known_.emplace_back(key, file);
  return file;
#else
  return {};
#endif
}

NvrtcAnswer NvrtcCompiler::compile(const NvrtcJob& job) {
  NvrtcAnswer answer;
  for (const std::string& option : job.options)
    if (!is_allowed_option(option)) {
      answer.problem = "the option '" + option + "' is not allowed";
      return answer;
    }
  Deadline deadline{Clock::now() + job.time_limit};
  std::vector<std::string> options = job.options;
  const std::string header_file = precompiled(job);
  answer.precompiled = !header_file.empty();
  if (answer.precompiled) {
    options.push_back("--use-pch=" + header_file);
    options.push_back("--pch-messages=false");
  }
  const std::string front = answer.precompiled ? including(job.headers) + "#line 1 \"" + job.name + "\"\n" : "";
  const Program program(front + job.source, job.name);
  if (program.status() != NVRTC_SUCCESS) return broken(program.status());
  if (const nvrtcResult added = add_names(program, job); added != NVRTC_SUCCESS) return broken(added);
#if CUDA_VERSION >= 13000
  nvrtcSetFlowCallback(program.get(), &Deadline::passed, &deadline);
#endif
  const nvrtcResult status = program.compile(options);
  answer.log = program.log();
  answer.timed_out = status != NVRTC_SUCCESS && Deadline::passed(&deadline, nullptr) != 0;
  if (status != NVRTC_SUCCESS) {
    if (status != NVRTC_ERROR_COMPILATION) answer.problem = nvrtcGetErrorString(status);
    return answer;
  }
  answer.cubin = program.cubin();
  if (answer.cubin.empty()) {
    answer.problem = "NVRTC gave no cubin";
    return answer;
  }
  if (!job.instance.empty()) answer.lowered_name = program.lowered_name(job.instance);
  for (const std::string& symbol : job.symbols) answer.lowered_symbols.push_back(program.lowered_name(symbol));
  answer.ok = true;
  return answer;
}

}  // namespace kagent::toolchain
