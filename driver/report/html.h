// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "values/choice.h"
#include "values/outcome.h"
#include "values/variant.h"

namespace kagent::report {

// What the page tells of one kernel on one architecture.
struct KernelReport {
  std::string kernel, target, architecture;
  Choice choice;                       // what a build takes, and what it looked at
  std::vector<Variant> generations;    // in the order in which they are to be shown
  std::map<Outcome, int> outcomes;     // of all trials on record
  std::map<std::string, Usage> usage;  // of models, for the candidates on record: a role each
};

// A page of its own (no scripts, nothing loaded) about all kernels of a project: an overview, then for each kernel its
// cases with confidence intervals, its generations, what was considered, and how trials ended. All text is escaped.
std::string html_page(const std::string& project, const std::vector<KernelReport>& kernels);

// Untrusted text for element contents and quoted attributes: cleaned, with & < > " ' as entities.
std::string html_text(std::string_view untrusted);

}  // namespace kagent::report
