// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "values/candidate.h"
#include "values/kernel_request.h"
#include "values/kernel_spec.h"

namespace kagent::gate {

// Why a candidate may not be compiled at all.
struct Rejection {
  std::string rule;  // stable short name: "forbidden-call", "inline-assembly", "entry-missing", "foreign-include", ...
  int line = 0;      // in the candidate's source, from 1; 0 if it has none
  std::string message;  // one line, with the offending word
};

// Static policy, relative to the parent (what the project's own source already does stays allowed): no
// processes, sockets, files, environment, dynamic loading, clocks, signals, assembler directives, includes of data or
// of absolute paths, no #line tricks, pragmas that change what is measured; the entry still defined. Works on tokens
// with comments and strings told apart and line continuations and trigraph-like tricks undone. Empty: may be compiled.
// Of CUDA sources the run time's calls are looked at too, and what device code may not do; in style "kernel" there is
// device code alone, and a candidate's own geometry is looked at. docs/trust.md lists the rules.
std::vector<Rejection> inspect(const Candidate& candidate, const std::string& parent_source, const KernelSpec& spec,
                               Language language = Language::cxx);

}  // namespace kagent::gate
