// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "gate/device.h"

namespace kagent::gate {
namespace {

// What launching needs, and what only tells about the device.
bool is_allowed_name(std::string_view name) {
  static const std::set<std::string_view> names = {"cudaGetLastError",
                                                   "cudaPeekAtLastError",
                                                   "cudaGetErrorString",
                                                   "cudaGetErrorName",
                                                   "cudaError_t",
                                                   "cudaError",
                                                   "cudaSuccess",
                                                   "cudaStream_t",
                                                   "cudaFuncSetAttribute",
                                                   "cudaFuncGetAttributes",
                                                   "cudaFuncAttributes",
                                                   "cudaFuncSetCacheConfig",
                                                   "cudaMemcpyAsync",
                                                   "cudaMemcpy2DAsync",
                                                   "cudaMemsetAsync",
                                                   "cudaMemset2DAsync",
                                                   "cudaMemcpyToSymbolAsync",
                                                   "cudaMemcpyDeviceToDevice",
                                                   "cudaDeviceGetAttribute",
                                                   "cudaGetDevice",
                                                   "cudaLaunchKernel",
                                                   "cudaLaunchKernelEx",
                                                   "cudaLaunchKernelExC",
                                                   "cudaLaunchCooperativeKernel",
                                                   "cudaLaunchConfig_t",
                                                   "cudaLaunchAttribute",
                                                   "cudaLaunchAttributeClusterDimension",
                                                   "cudaLaunchAttributeCooperative",
                                                   "cudaLaunchAttributeProgrammaticStreamSerialization",
                                                   "cudaLaunchAttributeID",
                                                   "cudaLaunchAttributeValue"};
  return names.contains(name) || name.starts_with("cudaError") || name.starts_with("cudaFuncAttribute") ||
         name.starts_with("cudaFuncCachePrefer") || name.starts_with("cudaDevAttr") ||
         name.starts_with("cudaOccupancy") || name.starts_with("cudaSharedmemCarveout") ||
         name.starts_with("cudaTriggerProgrammatic") || name.starts_with("cudaGridDependency");
}

struct Group {
  std::string_view rule, why;
  std::array<std::string_view, 9> prefixes;
};

// The first whose prefix fits names what is wrong.
constexpr std::array kGroups = {
    Group{"cuda-l2-window",
          "keep lines in the L2 cache beyond a call",
          {"cudaAccessProp", "cudaAccessPolicy", "cudaCtxResetPersisting", "cudaLimitPersisting",
           "cudaLaunchAttributeAccessPolicy", "cudaStreamAttr", "cudaStreamSetAttribute", "cudaStreamGetAttribute",
           "cudaStreamCopyAttributes"}},
    Group{"cuda-callback",
          "have functions called later",
          {"cudaLaunchHostFunc", "cudaStreamAddCallback", "cudaUserObject"}},
    Group{"cuda-graph",
          "record or replay graphs",
          {"cudaGraph", "cudaStreamBeginCapture", "cudaStreamEndCapture", "cudaStreamIsCapturing",
           "cudaStreamGetCapture", "cudaStreamUpdateCapture", "cudaThreadExchangeStreamCapture"}},
    Group{"cuda-synchronise",
          "wait for the device: callers do that",
          {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaThreadSynchronize", "cudaStreamQuery"}},
    Group{"cuda-stream",
          "use other streams than the one they are given",
          {"cudaStreamCreate", "cudaStreamDestroy", "cudaStreamWait", "cudaStreamPerThread", "cudaStreamLegacy",
           "cudaStreamNonBlocking", "cudaStreamDefault", "cudaStreamAttach", "cudaStream"}},
    Group{"cuda-event", "record or read events", {"cudaEvent"}},
    Group{"cuda-allocation",
          "allocate or free memory: ask for a workspace in kernel.json",
          {"cudaMalloc", "cudaFree", "cudaHost", "cudaMemPool", "cudaDeviceGetDefaultMemPool", "cudaDeviceSetMemPool",
           "cudaArray", "cudaCreate", "cudaDestroy"}},
    Group{"cuda-device",
          "change the device or the context for others",
          {"cudaSetDevice", "cudaDeviceReset", "cudaDeviceSet", "cudaSetValidDevices", "cudaIpc", "cudaDeviceEnable",
           "cudaThreadExit", "cudaInitDevice", "cudaProfiler"}},
    Group{"cuda-transfer",
          "move data between host and device",
          {"cudaMemcpy", "cudaMemset", "cudaMemPrefetch", "cudaMemAdvise", "cudaGetSymbolAddress", "cudaPointer",
           "cudaGraphics", "cudaExternal", "cudaImport"}},
    Group{"cuda-driver",
          "use the driver's interface",
          {"cudaGetDriverEntryPoint", "cudaLibrary", "cudaKernel", "cudaGetKernel", "cudaGetFuncBySymbol",
           "cudaGetExportTable"}},
};

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

// Names of CUDA's libraries; device parts of cub and thrust come as headers, and are judged there.
bool is_library(std::string_view name) {
  constexpr std::array<std::string_view, 14> kPrefixes = {"cublas",   "cudnn",   "cusparse",  "cusolver", "cufft",
                                                          "cutensor", "cudss",   "nccl",      "nvblas",   "npp",
                                                          "curand",   "cutlass", "nvjitlink", "nvshmem"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool is_consented(std::string_view name, const Rules& rules) {
  return std::ranges::any_of(rules.libraries, [&](const std::string& library) {
    return name.starts_with(library) || (library == "cublasLt" && name.starts_with("cublas"));
  });
}

// Variables and parameters declared as "cudaStream_t name".
std::set<std::string_view> streams_of(const Tokens& tokens) {
  std::set<std::string_view> streams;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i)
    if (tokens[i].is("cudaStream_t") && tokens[i + 1].is_identifier()) {
      // One that is given, not made: a parameter, or a copy of one.
      const bool parameter = i + 2 < tokens.size() && (tokens[i + 2].is(",") || tokens[i + 2].is(")"));
      const bool is_set = i + 4 < tokens.size() && tokens[i + 2].is("=");
      const bool preset = is_set && (tokens[i + 3].is("0") || tokens[i + 3].is("nullptr")) &&
                          (tokens[i + 4].is(")") || tokens[i + 4].is(","));
      const bool copy = is_set && streams.contains(tokens[i + 3].text) && tokens[i + 4].is(";");
      if (parameter || preset || copy) streams.insert(tokens[i + 1].text);
    }
  return streams;
}

// Index of the last argument's first token, and how many there are, in [begin, end).
std::pair<std::size_t, int> last_argument(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::size_t last = begin;
  int count = begin < end ? 1 : 0;
  for (std::size_t i = begin; i < end;) {
    if (tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{")) {
      i = std::min(end, past_group(tokens, i));
      continue;
    }
    if (tokens[i].is(",")) {
      last = i + 1;
      ++count;
    }
    ++i;
  }
  return {last, count};
}

bool is_given_stream(const Tokens& tokens, std::size_t begin, std::size_t end,
                     const std::set<std::string_view>& known) {
  return begin + 1 == end && known.contains(tokens[begin].text);
}

class RuntimeCalls {
 public:
  RuntimeCalls(const Tokens& tokens, CodeKind kind, const Rules& rules, Findings& findings)
      : tokens_(tokens),
        kind_(kind),
        rules_(rules),
        findings_(findings),
        streams_(streams_of(tokens)),
        bodies_(device_bodies(tokens)) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size() && findings_.size() < kMostFindings; ++i) {
      if (i + 2 < tokens_.size() && tokens_[i].is("<") && tokens_[i + 1].is("<") && tokens_[i + 2].is("<")) {
        check_launch(i);
        i += 2;
      } else if (tokens_[i].is("=")) {
        check_assignment(i);
      } else if (tokens_[i].is_identifier()) {
        check_name(i);
      }
    }
  }

 private:
  void add(std::size_t index, std::string_view rule, const std::string& subject, const std::string& why) {
    findings_.push_back({std::string(rule), subject, tokens_[index].line, why});
  }

  void check_name(std::size_t i) {
    const std::string& name = tokens_[i].text;
    const std::string quoted = "'" + name + "': candidates may not ";
    if (is_library(name)) {
      if (!is_consented(name, rules_))
        add(i, "foreign-library", name, "'" + name + "': a candidate may not hand the work to a library");
      return;
    }
    const bool names_device_algorithm =
        name.starts_with("Device") && i >= 2 && tokens_[i - 1].is("::") && tokens_[i - 2].is("cub");
    const bool names_thrust = name == "thrust" && i + 1 < tokens_.size() && tokens_[i + 1].is("::");
    if (names_device_algorithm || names_thrust) {
      if (!is_consented(names_thrust ? "thrust" : "cub", rules_))
        add(i, "foreign-library", name, "'" + name + "': a candidate may not hand the work to a library");
      return;
    }
    if (name.size() > 2 && name.starts_with("cu") && is_upper(name[2]))
      return add(i, "cuda-driver", name, quoted + "use the driver's interface");
    if (name.size() > 2 && name.starts_with("CU") && (is_upper(name[2]) || name[2] == '_') &&
        name != "CUDART_VERSION" && name != "CUDA_VERSION" && !name.starts_with("CUDART_") &&
        !is_macro_of_its_own(name))
      return add(i, "cuda-driver", name, quoted + "use the driver's interface");
    if (name.starts_with("nvrtc") || name.starts_with("nvml") || name.starts_with("cupti"))
      return add(i, "cuda-driver", name, quoted + "use tools beside the run time");
    if (name.size() <= 4 || !name.starts_with("cuda") || !is_upper(name[4])) return;
    if (is_allowed_name(name)) {
      if (kind_ == CodeKind::device_only && !name.starts_with("cudaTriggerProgrammatic") &&
          !name.starts_with("cudaGridDependency"))
        add(i, "cuda-call", name, quoted + "call the run time from device code");
      else
        check_stream(i);
      return;
    }
    for (const Group& group : kGroups)
      for (const std::string_view prefix : group.prefixes)
        if (!prefix.empty() && name.starts_with(prefix))
          return add(i, group.rule, name, quoted + std::string(group.why));
    add(i, "cuda-call", name, "'" + name + "': not among the calls of the run time that candidates may use");
  }

  bool is_macro_of_its_own(const std::string& name) const {
    for (std::size_t i = 0; i + 2 < tokens_.size(); ++i)
      if (begins_directive(tokens_, i) && tokens_[i + 1].is("define") && tokens_[i + 2].is(name)) return true;
    return false;
  }

  // Copies, fills and launches go through the stream that was given.
  void check_stream(std::size_t i) {
    const std::string& name = tokens_[i].text;
    if (name == "cudaLaunchConfig_t") return check_configuration(i);
    if (name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel") return check_call_of_launch(i);
    const bool asynchronous = name == "cudaMemcpyAsync" || name == "cudaMemsetAsync" || name == "cudaMemcpy2DAsync" ||
                              name == "cudaMemset2DAsync" || name == "cudaMemcpyToSymbolAsync";
    if (!asynchronous || i + 1 >= tokens_.size() || !tokens_[i + 1].is("(")) return;
    const std::size_t end = past_group(tokens_, i + 1) - 1;
    const auto [last, count] = last_argument(tokens_, i + 2, end);
    if (!is_given_stream(tokens_, last, end, streams_))
      add(i, "cuda-stream", spelled(tokens_, i, std::min(end + 1, i + 64)),
          "'" + name + "' must be given the stream that the entry is given");
  }

  // Whether the place is host code of an entry that is given a stream. What device code launches is said otherwise.
  bool has_stream(std::size_t index) const {
    return kind_ != CodeKind::device_only && !streams_.empty() &&
           std::ranges::none_of(bodies_,
                                [index](const auto& body) { return body.first <= index && index < body.second; });
  }

  void add_other_stream(std::size_t from, std::size_t to, const std::string& what) {
    add(from, "cuda-stream", spelled(tokens_, from, std::min({to, from + 64, tokens_.size()})),
        what + " must be given the stream that the entry is given");
  }

  // The function, its grid, block, arguments, shared memory and stream.
  void check_call_of_launch(std::size_t i) {
    if (!has_stream(i) || i + 1 >= tokens_.size() || !tokens_[i + 1].is("(")) return;
    constexpr int kArguments = 6;
    const std::size_t end = past_group(tokens_, i + 1) - 1;
    const auto [last, count] = last_argument(tokens_, i + 2, end);
    if (count != kArguments || !is_given_stream(tokens_, last, end, streams_))
      add_other_stream(i, end + 1, "'" + tokens_[i].text + "'");
  }

  // "config.stream = stream", and the stream itself, which keeps its value.
  void check_assignment(std::size_t i) {
    if (i < 2 || i + 1 >= tokens_.size() || !has_stream(i) || streams_.contains(tokens_[i + 1].text)) return;
    const bool member = tokens_[i - 1].is("stream") && (tokens_[i - 2].is(".") || tokens_[i - 2].is("->"));
    const bool statement = tokens_[i - 2].is(";") || tokens_[i - 2].is("{") || tokens_[i - 2].is("}") ||
                           tokens_[i - 2].is(")") || tokens_[i - 2].is("else");
    if (member || (statement && streams_.contains(tokens_[i - 1].text)))
      add_other_stream(i - 1, i + 2, "'" + tokens_[i - 1].text + "'");
  }

  bool holds_stream(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i)
      if (streams_.contains(tokens_[i].text)) return true;
    return false;
  }

  // "name.stream = ..." or "name[0].stream = ..." somewhere, of what is checked as an assignment; or all of it at once.
  bool sets_stream_of(std::string_view name) const {
    for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
      if (!tokens_[i].is(name)) continue;
      std::size_t next = i + 1;
      if (tokens_[next].is("[")) next = past_group(tokens_, next);
      if (next + 2 < tokens_.size() && tokens_[next].is(".") && tokens_[next + 1].is("stream") &&
          tokens_[next + 2].is("="))
        return true;
      if (next + 1 < tokens_.size() && tokens_[next].is("=") && tokens_[next + 1].is("{") &&
          holds_stream(next + 1, past_group(tokens_, next + 1)))
        return true;
    }
    return false;
  }

  // A configuration launches on the null stream unless it says otherwise: in its initialiser or by an assignment.
  void check_configuration(std::size_t i) {
    if (!has_stream(i) || i < 1 || i + 2 >= tokens_.size()) return;
    const std::size_t before = tokens_[i - 1].is("const") && i > 1 ? i - 2 : i - 1;
    const bool names = tokens_[i + 1].is_identifier();
    if (names && (tokens_[before].is("(") || tokens_[before].is(","))) return;  // a parameter
    if (tokens_[i + 1].is("*") || tokens_[i + 1].is("&")) return;               // of one that is declared elsewhere
    if (names) return check_declared_configurations(i);
    // One without a name, or the type under another: "config = cudaLaunchConfig_t{...}", "using C =
    // cudaLaunchConfig_t".
    const std::string name = tokens_[before].is("=") ? tokens_[before - 1].text : "";
    const std::size_t end = statement_end(i + 1);
    if (!holds_stream(i + 1, end) && (name.empty() || !sets_stream_of(name)))
      add_other_stream(i, i + 2, name.empty() ? "a launch" : "'" + name + "'");
  }

  // "cudaLaunchConfig_t a = {...}, b;"
  void check_declared_configurations(std::size_t type) {
    const std::size_t end = statement_end(type + 1);
    for (std::size_t at = type + 1; at < end;) {
      std::size_t next = at;
      while (next < end && !tokens_[next].is(","))
        next = tokens_[next].is("{") || tokens_[next].is("(") ? past_group(tokens_, next) : next + 1;
      const std::string& name = tokens_[at].text;
      if (!holds_stream(at + 1, std::min(next, end)) && !sets_stream_of(name))
        add_other_stream(type, std::min(at + 1, end), "'" + name + "'");
      at = next + 1;
    }
  }

  std::size_t statement_end(std::size_t at) const {
    while (at < tokens_.size() && !tokens_[at].is(";"))
      at = tokens_[at].is("{") || tokens_[at].is("(") ? past_group(tokens_, at) : at + 1;
    return std::min(at, tokens_.size());
  }

  void check_launch(std::size_t open) {
    if (!has_stream(open)) return;
    std::size_t close = open + 3;
    while (close + 2 < tokens_.size() &&
           !(tokens_[close].is(">") && tokens_[close + 1].is(">") && tokens_[close + 2].is(">")) &&
           !tokens_[close].is(";"))
      ++close;
    const auto [last, count] = last_argument(tokens_, open + 3, close);
    if (count != 4 || !is_given_stream(tokens_, last, close, streams_))
      add(open, "cuda-stream", spelled(tokens_, open, std::min(close + 3, open + 64)),
          "a launch must be given the stream that the entry is given, as its fourth argument");
  }

  const Tokens& tokens_;
  CodeKind kind_;
  const Rules& rules_;
  Findings& findings_;
  std::set<std::string_view> streams_;
  std::vector<std::pair<std::size_t, std::size_t>> bodies_;
};

}  // namespace

void find_runtime_calls(const Tokens& tokens, CodeKind kind, const Rules& rules, Findings& findings) {
  RuntimeCalls(tokens, kind, rules, findings).run();
}

}  // namespace kagent::gate
