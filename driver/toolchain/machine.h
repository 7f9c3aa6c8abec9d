// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kagent::toolchain {

// "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64": the highest level that this machine runs.
std::string machine_level();
// Whether code compiled for `level` runs here. "native" always does.
bool machine_runs(const std::string& level);
// Model name, core count and level of this machine, for records.
std::string machine_description();

// Data caches, "48 KiB L1, 2 MiB L2, 32 MiB L3", as far as the system tells them; empty where it tells none.
std::string cache_description();

// The x86-64 level of a machine whose /proc/cpuinfo lists these flags (System V ABI for AMD64, 3.1.1).
std::string x86_level(std::string_view flags);

}  // namespace kagent::toolchain
