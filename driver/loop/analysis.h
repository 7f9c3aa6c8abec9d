// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/binary.h"
#include "values/bottleneck.h"
#include "values/error.h"
#include "values/kernel_request.h"
#include "values/kernel_spec.h"
#include "values/trial.h"

namespace kagent::loop {

// What is known about a candidate when it is analysed.
struct AnalysisInput {
  const KernelSpec& spec;
  Language language = Language::cxx;
  const Binary* binary = nullptr;           // null where it is not there any more: then times alone speak
  const std::vector<CaseTimes>& times;      // of racing; the candidate's own are analysed
  std::filesystem::path state_folder = {};  // for the ceilings of this machine
  std::string device = {};                  // CUDA: as recorded, whose ceilings are meant
  std::filesystem::path compiler = {};      // CUDA: nvcc, whose toolkit may have a disassembler
  std::filesystem::path profile = {};       // what was seen of the candidate; see store::profile_file()
};

// What limits a candidate, one Bottleneck for each of its timed cases. The one place where profilers are asked: better
// ones raise the tier.
Result<std::vector<Bottleneck>> analyse(const AnalysisInput& input);

// The numbers of a candidate's profile, for evidence: "<case>/<number>", but for what times alone give.
std::map<std::string, double> profiled_numbers(const AnalysisInput& input);

// The share of the roofline over all cases, by weight; nothing where no case has one.
std::optional<double> roofline_share(const std::vector<Bottleneck>& bottlenecks, const std::vector<CaseTimes>& times);

}  // namespace kagent::loop
