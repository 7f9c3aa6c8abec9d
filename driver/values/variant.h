// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/candidate.h"
#include "values/decision.h"
#include "values/device.h"
#include "values/kernel_key.h"

namespace kagent {

// Why a variant was accepted: the contents of variant.json.
struct Evidence {
  std::string kernel;
  std::string architecture;
  int generation = 0;  // 1: beats the baseline
  std::string parent;  // branch of the generation before, or "baseline"
  KernelKey key;
  std::string source_name;  // file name of the variant beside variant.json
  std::string source_hash;  // SHA-256 of that file
  std::string object_hash;
  std::string symbol;    // the entry's mangled name
  std::string flags;     // compile command as one line, for people
  std::string compiler;  // "g++ 12.2.0"
  std::string device;    // "Intel Xeon ..., 2 cores, x86-64-v3"
  std::string sandbox;   // "bubblewrap 0.8.0" or "none"
  TunableValues tunables;
  std::optional<Launch> launch;           // style kernel: geometry instead of the spec's
  std::vector<DeviceUsage> device_usage;  // CUDA: a kernel each
  std::string driver;                     // CUDA: "CUDA 13.0"; empty for host code
  // Of the incumbent and of the variant: what a profile of each timed case gave, as "<case>/<number>". Empty where
  // nothing but time is known.
  std::map<std::string, double> counters_before, counters_after;
  // CUDA: a tool of compute-sanitizer's ("memcheck"), and "clean" or why it said nothing; empty where none was asked.
  std::map<std::string, std::string> sanitizer;
  bool reviewed = true;  // false: the first of its architecture, until a person confirms it
  Decision against_incumbent;
  Decision against_baseline;
  std::vector<std::string> expected_from;              // "training: reference"
  std::map<std::string, double> max_error_over_bound;  // an output
  std::string proposer, hypothesis, reflection;
  std::string model;    // empty for the search
  Usage usage;          // of the candidate, its repairs included
  std::string created;  // UTC, ISO 8601
  std::string kagent_version;
};

enum class VariantPlace { working_tree, local_branch, remote_branch };

// An accepted candidate as it lies in variants/ or on a branch.
struct Variant {
  VariantPlace place = VariantPlace::local_branch;
  std::string reference;  // branch "kagent/softmax/x86-64-v3/g002-1a2b3c4d", "origin/..." or path under variants/
  Evidence evidence;
  std::string source;  // text of the variant file
};

// What makes a variant unusable whatever it is compared with, in words: its evidence names another kernel or
// architecture, or a source name that is a path. Empty if nothing does. Evidence is untrusted: anybody may write a
// branch.
std::string flaw(const Variant& variant, const std::string& kernel, const std::string& architecture);

}  // namespace kagent
