// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kagent::toolchain {

bool is_nvcc(const std::filesystem::path& compiler);

// nvcc's options in one spelling each, as g++ would have them where it knows them: "-DX", "-I/folder", "-isystem"
// "/folder", "-std=c++17", "-O3", "-Xcompiler=-fPIC", "-rdc=true" for -dc, "-x" "cu". Options that name other outputs
// or keep intermediate files are left out.
std::vector<std::string> canonical_nvcc_options(const std::vector<std::string>& words);

// The words of a command line as nvcc runs it: with those of the environment variables NVCC_PREPEND_FLAGS and
// NVCC_APPEND_FLAGS, and with the host compiler that NVCC_CCBIN names where no word does.
std::vector<std::string> with_nvcc_environment(const std::vector<std::string>& words);

// Canonical options without those that choose architectures (-arch, -code, -gencode and their long forms).
std::vector<std::string> without_architectures(const std::vector<std::string>& options);

}  // namespace kagent::toolchain
