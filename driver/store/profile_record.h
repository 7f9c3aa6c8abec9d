// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/device.h"

namespace kagent::store {

// What was seen of one program on the device, kept beside the candidate's files, so that a later step, perhaps on a
// machine without the device, can say what limits it.
struct ProfileRecord {
  struct OfCase {
    double time_ns = 0;                                  // of a call
    std::vector<std::map<std::string, double>> kernels;  // counters by CUPTI's names, of each kernel of a call
    std::string problem;                                 // why there are none
  };
  std::map<std::string, OfCase> cases;
  std::vector<DeviceUsage> usage;
  Device device;
};

// Nothing where there is no record, or none that can be read.
std::optional<ProfileRecord> read_profile(const std::filesystem::path& file);
// A record that cannot be written costs the profile, and nothing else.
void write_profile(const std::filesystem::path& file, const ProfileRecord& record);

// Where the record of a candidate lies; of the baseline with an empty hash.
std::filesystem::path profile_file(const std::filesystem::path& state_folder, const std::string& kernel,
                                   const std::string& architecture, const std::string& candidate_hash);

}  // namespace kagent::store
