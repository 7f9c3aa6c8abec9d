// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "proposer/proposer.h"

namespace kagent::proposer {

inline const std::string kSoftmax =
    "#include <cmath>\n"
    "\n"
    "void softmax(const float* x, float* y, int rows, int cols) {\n"
    "  for (int r = 0; r < rows; ++r) {\n"
    "    float sum = 0;\n"
    "    for (int c = 0; c < cols; ++c) sum += std::exp(x[r * cols + c]);\n"
    "    for (int c = 0; c < cols; ++c) y[r * cols + c] = std::exp(x[r * cols + c]) / sum;\n"
    "  }\n"
    "}\n";

inline Expression expression(const std::string& text) {
  return *Expression::parse(text);
}

inline KernelSpec softmax_spec() {
  KernelSpec spec;
  spec.kernel = "softmax";
  spec.entry = "softmax";
  Parameter x, y, rows, cols;
  x.name = "x";
  x.shape = {expression("rows"), expression("cols")};
  y = x;
  y.name = "y";
  y.kind = ParameterKind::output;
  rows.name = "rows";
  rows.kind = cols.kind = ParameterKind::size;
  rows.dtype = cols.dtype = DType::int32;
  cols.name = "cols";
  spec.parameters = {x, y, rows, cols};
  Case training, hidden;
  training.name = "training";
  training.sizes = {{"rows", 8192}, {"cols", 4096}};
  training.timed = true;
  training.weight = 0.8;
  hidden.name = "hidden-shape";
  hidden.sizes = {{"rows", 17}, {"cols", 8191}};
  spec.cases = {training, hidden};
  spec.flops = expression("5*rows*cols");
  spec.bytes = expression("8*rows*cols");
  spec.tunables = {{"BLOCK", {64, 128, 256}}};
  spec.constraints = {expression("BLOCK <= 256")};
  return spec;
}

inline Trial trial(const std::string& proposer, const std::string& change, Outcome outcome,
                   std::optional<double> score = std::nullopt, const std::string& detail = {}) {
  Trial result;
  result.candidate = {kSoftmax, {{"BLOCK", 128}}, proposer, "because of " + change};
  if (proposer != "search") {
    result.candidate.source += "// " + std::to_string(std::hash<std::string>{}(change)) + "\n";
    result.candidate.change = change;
    result.candidate.expected_speedup = 1.5;
  }
  result.outcome = outcome;
  result.score = score;
  result.detail = detail;
  return result;
}

inline std::vector<Trial> softmax_history() {
  return {
      trial("search", "", Outcome::ok, 0.9), trial("openai", "vector loads", Outcome::ok, 0.5),
      trial("openai", "two rows at once", Outcome::slower, 1.2),
      trial("openai", "unrolled\nby four `x`", Outcome::compile_failed, std::nullopt, "softmax.cpp:3: 'y' undeclared"),
      trial("openai", "tiles", Outcome::ok, 0.4)};
}

inline Brief softmax_brief() {
  Brief brief;
  brief.architecture = "x86-64-v3";
  brief.device = "Intel Xeon, 2 cores, x86-64-v3";
  brief.flags = "g++ -O3 -march=x86-64-v3";
  brief.round = 2;
  brief.rounds = 6;
  brief.parent.candidate = {kSoftmax, {{"BLOCK", 128}}, "openai", "h"};
  brief.parent.candidate.change = "tiles";
  brief.parent.hash = "abc123";
  brief.parent.ratio = 0.4;
  Bottleneck bottleneck;
  bottleneck.case_name = "training";
  bottleneck.tier = "time";
  bottleneck.tier_reason = "no counters here";
  bottleneck.time_ns = 12'345'678;
  bottleneck.limited_by = "fp32 arithmetic";
  bottleneck.resource = "vector units";
  bottleneck.time = "all of the call";
  bottleneck.space = "registers";
  bottleneck.roofline_share = 0.31;
  bottleneck.metrics = {{"instructions per byte", 4.5, "1"}, {"dram__bytes_read.sum", 1.34e8, "byte"}};
  bottleneck.patterns = {{"scalar-exp", 0.6, "no vector instructions", "write the exponential in vectors", "rules"}};
  brief.bottlenecks = {bottleneck};
  brief.roofline_share = 0.31;
  brief.cases = {{"training", 0.8, 30e6, 12e6}};
  brief.lessons = {
      {"scalar-exp", "vector exponential", 0.5, Outcome::ok, "x86-64-v3", {"reduction", "fp32"}, "gelu abc"},
      {"bandwidth", "non-temporal stores", 1, Outcome::wrong_result, "x86-64-v3", {}, "copy def"}};
  return brief;
}

}  // namespace kagent::proposer
