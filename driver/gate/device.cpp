// SPDX-License-Identifier: Apache-2.0
#include "gate/device.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

namespace kagent::gate {
namespace {

struct Words {
  std::string_view rule;
  std::string_view why;
  std::set<std::string_view> names;
};

const std::array<Words, 5>& everywhere() {
  static const std::array<Words, 5> words = {{
      {"device-clock",
       "read clocks or wait for a time",
       {"clock64", "__clock", "__clock64", "globaltimer", "__globaltimer", "__nv_ptx_builtin_read_clock", "__nanosleep",
        "clock_t", "__builtin_nvvm_read_ptx_sreg_clock", "__builtin_nvvm_read_ptx_sreg_globaltimer", "get_sreg_clock",
        "get_sreg_globaltimer", "__nvvm_read_ptx_sreg_clock"}},
      {"device-trap",
       "stop the device",
       {"assert", "__trap", "__brkpt", "__assertfail", "__assert_fail", "__prof_trigger", "__exit", "__nvvm_exit",
        "__builtin_trap", "__builtin_unreachable_trap"}},
      {"cache-residency",
       "keep lines in the L2 cache beyond a call",
       {"access_property", "persisting", "apply_access_property", "associate_access_property", "annotated_ptr",
        "__nv_associate_access_property", "createpolicy"}},
      {"dynamic-parallelism",
       "launch kernels from the device",
       {"cudaLaunchDevice", "cudaLaunchDeviceV2", "cudaGetParameterBuffer", "cudaGetParameterBufferV2",
        "cudaStreamFireAndForget", "cudaStreamTailLaunch", "cudaStreamGraphTailLaunch", "cudaStreamGraphFireAndForget",
        "cudaGetCurrentGraphExec"}},
      {"device-state", "keep values from one call to the next", {"__managed__"}},
  }};
  return words;
}

const std::set<std::string_view>& heap_words() {
  static const std::set<std::string_view> words = {"malloc", "free",   "calloc", "realloc",
                                                   "new",    "delete", "alloca", "__nv_aligned_device_malloc"};
  return words;
}

bool is_member(const Tokens& tokens, std::size_t index) {
  return index > 0 && (tokens[index - 1].is(".") || tokens[index - 1].is("->"));
}

bool begins_launch(const Tokens& tokens, std::size_t index) {
  return index + 2 < tokens.size() && tokens[index].is("<") && tokens[index + 1].is("<") && tokens[index + 2].is("<");
}

bool is_inside(const std::vector<std::pair<std::size_t, std::size_t>>& ranges, std::size_t index) {
  return std::ranges::any_of(ranges,
                             [index](const auto& range) { return range.first <= index && index < range.second; });
}

}  // namespace

bool is_cuda_idiom(const Tokens& tokens, std::size_t index) {
  const Token& token = tokens[index];
  // cg::wait(block), cg::sync(grid), cuda::barrier's own.
  const bool qualified = index >= 2 && tokens[index - 1].is("::") &&
                         (tokens[index - 2].is("cg") || tokens[index - 2].is("cooperative_groups") ||
                          tokens[index - 2].is("cuda") || tokens[index - 2].is("device"));
  if (qualified && (token.is("wait") || token.is("sync") || token.is("select"))) return true;
  if (token.is("extern")) return index + 1 < tokens.size() && tokens[index + 1].is("__shared__");
  return token.is("asm") || token.is("__asm") || token.is("__asm__");
}

bool is_device_header(std::string_view header, CodeKind kind, const Rules& rules) {
  if (kind == CodeKind::host || !header.starts_with('<')) return false;
  static const std::set<std::string_view> exact = {"<cuda_runtime.h>",
                                                   "<cuda_fp16.h>",
                                                   "<cuda_bf16.h>",
                                                   "<cuda_fp8.h>",
                                                   "<cuda_fp6.h>",
                                                   "<cuda_fp4.h>",
                                                   "<mma.h>",
                                                   "<cuda_pipeline.h>",
                                                   "<cuda_pipeline_primitives.h>",
                                                   "<cuda_awbarrier.h>",
                                                   "<cuda_awbarrier_primitives.h>",
                                                   "<cooperative_groups.h>",
                                                   "<cuda/barrier>",
                                                   "<cuda/pipeline>",
                                                   "<cuda/atomic>",
                                                   "<cuda/functional>",
                                                   "<cuda/cmath>",
                                                   "<cuda/ptx>",
                                                   "<cuda/warp>",
                                                   "<cuda/std/chrono>"};
  if (exact.contains(header)) return header != "<cuda/std/chrono>";
  const auto consented = [&rules](std::string_view name) {
    return std::ranges::find(rules.libraries, name) != rules.libraries.end();
  };
  if (header.find("..") != header.npos) return false;
  if (header.starts_with("<cooperative_groups/") || header.starts_with("<cuda/std/")) return true;
  return (header.starts_with("<cub/") && consented("cub")) || (header.starts_with("<thrust/") && consented("thrust"));
}

std::vector<std::pair<std::size_t, std::size_t>> device_bodies(const Tokens& tokens) {
  std::vector<std::pair<std::size_t, std::size_t>> bodies;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__device__") && !tokens[i].is("__global__")) continue;
    std::size_t at = i + 1;
    bool parameters = false;
    while (at < tokens.size() && !tokens[at].is(";") && !tokens[at].is("{") && !(tokens[at].is("=") && !parameters)) {
      if (tokens[at].is("(")) {
        parameters = true;
        at = past_group(tokens, at);
      } else {
        ++at;
      }
    }
    if (at >= tokens.size() || !tokens[at].is("{") || !parameters) continue;
    const std::size_t past = past_group(tokens, at);
    bodies.emplace_back(at, past);
    i = past - 1;
  }
  return bodies;
}

void find_device_code(const Tokens& tokens, CodeKind kind, Findings& findings) {
  const bool all = kind == CodeKind::device_only;
  const auto bodies = device_bodies(tokens);
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings; ++i) {
    const Token& token = tokens[i];
    if (begins_launch(tokens, i) && (all || is_inside(bodies, i))) {
      findings.push_back({"dynamic-parallelism", "<<<", token.line,
                          "'<<<' in device code: candidates may not launch kernels from the device"});
      i += 2;
      continue;
    }
    if (!token.is_identifier() || is_member(tokens, i)) continue;
    for (const Words& words : everywhere())
      if (words.names.contains(token.text) && (!token.is("assert") || all || is_inside(bodies, i)))
        findings.push_back({std::string(words.rule), token.text, token.line,
                            "'" + token.text + "': candidates may not " + std::string(words.why)});
    if (heap_words().contains(token.text) && (all || is_inside(bodies, i)) &&
        !(i > 0 && (tokens[i - 1].is("=") && token.is("delete"))) && !begins_directive(tokens, i > 0 ? i - 1 : 0))
      findings.push_back({"device-heap", token.text, token.line,
                          "'" + token.text + "': candidates may not allocate memory on the device"});
  }
}

void find_host_code(const Tokens& all, Findings& findings) {
  const Tokens tokens = without_directives(all);
  // One declaration after the other, at namespace level.
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tokens.size() && findings.size() < kMostFindings;) {
    const auto has = [&](std::string_view word) {
      return std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                         tokens.begin() + static_cast<std::ptrdiff_t>(i),
                         [&](const Token& token) { return token.is(word); });
    };
    if (tokens[i].is("__host__"))
      findings.push_back(
          {"host-code", "__host__", tokens[i].line, "'__host__': a kernel of style \"kernel\" has device code only"});
    if (tokens[i].is("(") || tokens[i].is("[")) {
      i = past_group(tokens, i);
    } else if (tokens[i].is("{")) {
      const bool opens_scope = has("namespace") || (has("extern") && !has("("));
      if (opens_scope) {
        begin = ++i;
        continue;
      }
      const bool on_device = has("__device__") || has("__global__") || has("constexpr") || has("consteval");
      if (has("(") && !has("=") && !on_device && !has("struct") && !has("class") && !has("union") && !has("enum"))
        findings.push_back({"host-code", spelled(tokens, begin, std::min(i, begin + 64)), tokens[begin].line,
                            "a host function: a kernel of style \"kernel\" has device code only"});
      const bool is_function = has("(") && !has("=");
      i = past_group(tokens, i);
      if (is_function) begin = i;
    } else if (tokens[i].is(";") || tokens[i].is("}")) {
      begin = ++i;
    } else {
      ++i;
    }
  }
}

}  // namespace kagent::gate
