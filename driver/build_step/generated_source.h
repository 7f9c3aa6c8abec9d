// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "values/choice.h"

namespace kagent::build_step {

// A level of one kernel in a library that dispatches at run time.
struct DispatchedLevel {
  std::string architecture;  // "x86-64-v3"
  std::string function;      // the isolated variant's symbol, from isolated_name()
};

// What the build compiles where no variant is chosen: the project's own file, included by its path, so that its
// relative includes, __FILE__ and debug information are what they were.
std::string baseline_source(const std::filesystem::path& source);

// The baseline with its entry under another name, so that a dispatcher can take the entry's place.
struct RenamedBaseline {
  std::string source;
  std::string entry;  // the new name, qualified as in the spec
};
// `baseline`: text that defines the entry, such as baseline_source().
RenamedBaseline renamed_baseline(const std::string& baseline, const std::string& entry);

// `text` as the build compiles it at `generated`: #line directives without a folder, such as a variant has below its
// tunables, name `generated` and the line where they are. nvcc counts the file of a directive among what a source
// includes, and a build would compile again every time what includes a file that is not there.
std::string with_own_lines(const std::string& text, const std::filesystem::path& generated);

// The symbol under which a level's variant is linked: unique over targets, kernels and levels.
std::string isolated_name(const std::string& target, const std::string& kernel, const std::string& architecture);

// A kernel whose variants are chosen when the program runs.
struct Dispatch {
  std::string target, kernel;
  std::string baseline;  // text that defines the entry: an include of the source, or a generated launcher
  std::string entry;     // "ops::softmax"
  std::string symbol;    // its mangled name; CUDA: empty where it is not known, and C++ linkage is meant
  bool hidden = false;   // the target hides its symbols by default
  std::vector<DispatchedLevel> variants;
};

struct Dispatcher {
  std::string source;    // the main generated file
  std::string resolver;  // "dispatch.inc" beside it, which it includes
};
// Of C++ code: the baseline under another name plus an ifunc that is resolved once, when the program is loaded, to the
// highest level that the processor has. Where the target hides its symbols the entry is exported as protected: the
// library's own calls then reach it whatever other libraries define.
Dispatcher dispatcher_source(Dispatch dispatch);

}  // namespace kagent::build_step
