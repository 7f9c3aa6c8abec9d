// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "values/device.h"

namespace kagent::toolchain {

// What ptxas says of each kernel under -v, in nvcc's output or in NVRTC's log: registers, spills, stack, static shared
// memory, barriers. Only of `architecture` ("sm_90a"), unless that is empty. Names are demangled.
std::vector<DeviceUsage> parse_ptxas_report(std::string_view output, std::string_view architecture);

// The same output without the lines of information, so that what is left is warnings and errors.
std::string without_ptxas_report(std::string_view output);

// Threads a block that each kernel of a PTX file may be launched with, where the source bounds them
// (__launch_bounds__), by demangled name.
std::map<std::string, int> parse_thread_bounds(std::string_view ptx);

// Why a kernel cannot be launched on any device of `architecture` with as many threads a block as its
// source allows for, or as it is launched with: numbers and limit; empty if it can. `threads` is 0 where they are not
// known.
std::string launch_problem(const DeviceUsage& usage, int threads, std::string_view architecture);

// Messages about lines of a PTX file ("ptxas k.ptx, line 23; error   : ...") as messages about the line of the source
// that has the same text, where there is one (inline assembly). `source` counts as its author does.
std::string with_source_lines(std::string_view output, std::string_view ptx, std::string_view source,
                              std::string_view source_path);

// "_Z4kernIfEvPf" as "void kern<float>(float*)"; anything else as it is.
std::string demangled(const std::string& name);

}  // namespace kagent::toolchain
