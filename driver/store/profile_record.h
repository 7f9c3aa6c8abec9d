// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/code_facts.h"
#include "values/device.h"
#include "values/kernel_trace.h"

namespace kagent::store {

// What was seen of one program where it runs, kept beside the candidate's files, so that a later step, perhaps on a
// machine without the device, can say what limits it.
struct ProfileRecord {
  struct OfCase {
    double time_ns = 0;                                  // of a call
    std::vector<std::map<std::string, double>> kernels;  // counters as Session::count() names them, of each kernel
    std::string problem;                                 // why there are none
    KernelTrace trace;                                   // of device code
  };
  std::string object_hash;  // of the program that was looked at
  std::map<std::string, OfCase> cases;
  // Of device code.
  std::vector<DeviceUsage> usage;
  Device device;
  CodeFacts code;
};

// Nothing where there is no record, or none that can be read.
std::optional<ProfileRecord> read_profile(const std::filesystem::path& file);
// A record that cannot be written costs the profile, and nothing else.
void write_profile(const std::filesystem::path& file, const ProfileRecord& record);

// Where the record of a candidate lies; of the baseline with an empty hash.
std::filesystem::path profile_file(const std::filesystem::path& state_folder, const std::string& kernel,
                                   const std::string& architecture, const std::string& candidate_hash);

}  // namespace kagent::store
