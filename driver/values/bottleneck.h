// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kagent {

// One number of a profile, under its field name ("dram__bytes_read.sum", "registers", "occupancy").
struct Metric {
  std::string name;
  double value = 0;
  std::string unit;  // "byte", "%", "1", "ns"
};

// A known way of losing time that the numbers show.
struct Pattern {
  std::string name;      // "uncoalesced-access"
  double severity = 0;   // 0 .. 1: an estimate of the share of time that it costs
  std::string evidence;  // the numbers that show it, in words
  std::string advice;    // the usual remedies
  std::string source;    // where rule and advice come from
};

// What limits a kernel on one case, in about two dozen numbers.
struct Bottleneck {
  std::string case_name;
  // What the numbers come from, best first: "counters", "activity" (what the GPU was seen to do during a call),
  // "static" (registers, occupancy, machine code, roofline), "time" (time and roofline alone).
  std::string tier;
  std::string tier_reason;  // why it is no better one
  double time_ns = 0;       // of a call
  std::string limited_by;   // "memory bandwidth", "fp32 arithmetic", "latency", "launch", ...
  // The same as named coordinates, so that a model reads a table: where (resource), when (time), on what (space).
  std::string resource, time, space;
  std::optional<double> roofline_share;  // 1: at the roof
  std::vector<Metric> metrics;           // a stable order
  std::vector<std::string> kernels;  // CUDA: what a call does on the GPU, the longest first, with shares of the time
  // CUDA: what the machine code is made of ("1240 instructions: 40 % fp32, ..."), or why that is not known.
  std::string code, code_reason;
  std::vector<std::string> lines;  // places in the source that the code says something of: "line 18: 4 local accesses"
  std::vector<Pattern> patterns;   // the costliest first
};

}  // namespace kagent
