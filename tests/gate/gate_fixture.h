// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "gate/gate.h"

namespace kagent::gate {

inline const std::string kParent =
    "#include <cmath>\nnamespace ns {\nvoid scale(const float* x, float* y, int n) {\n  for (int i = 0; i < n; ++i) "
    "y[i] = 2 * x[i];\n}\n}\n";

inline std::vector<Rejection> inspect_source(const std::string& source, const std::string& parent = kParent,
                                             const Rules& rules = {}) {
  KernelSpec spec;
  spec.entry = "ns::scale";
  spec.rules = rules;
  return inspect({source, {}, "test", {}}, parent, spec);
}

// The parent with `before` in front and `inside` at the start of the entry.
inline std::string candidate(const std::string& before, const std::string& inside = {}) {
  return "#include <cmath>\n" + before + "\nnamespace ns {\nvoid scale(const float* x, float* y, int n) {\n" + inside +
         "\n  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n}\n";
}

inline std::vector<std::string> rules_of(const std::vector<Rejection>& rejections) {
  std::vector<std::string> rules;
  for (const Rejection& rejection : rejections) rules.push_back(rejection.rule);
  return rules;
}

inline std::string in_words(const std::vector<Rejection>& rejections) {
  std::string text;
  for (const Rejection& rejection : rejections)
    text += rejection.rule + " at line " + std::to_string(rejection.line) + ": " + rejection.message + "\n";
  return text;
}

}  // namespace kagent::gate
