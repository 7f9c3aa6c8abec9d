// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/sass.h"
#include "values/binary.h"
#include "values/code_facts.h"

namespace kagent::loop {

// Counted and put into words; `source` is quoted beside the numbers of its lines.
CodeFacts facts_of(const std::vector<toolchain::SassStatistics>& kernels, std::string_view source = {});

// Where the toolchains leave a program's device code.
std::filesystem::path device_code_of(const Binary& binary);

// Facts of the device code in `cubin`, with the disassembler of the toolkit that `compiler` is of, or of the search
// path. Without a disassembler, or without such a file, there is the reason alone.
CodeFacts read_code(const std::filesystem::path& cubin, const std::filesystem::path& compiler,
                    std::string_view source = {});

}  // namespace kagent::loop
