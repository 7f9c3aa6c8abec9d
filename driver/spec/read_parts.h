// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "spec/reader.h"
#include "values/kernel_spec.h"

namespace kagent::spec {

// What the parts of kernel.json share while it is read.
struct Reading {
  KernelSpec& spec;
  bool style_known = true;         // false: it has a mistake, and what depends on it is not checked
  bool parameters_known = false;   // else names are not checked: one mistake must not cause a page of others
  std::set<std::string> doubtful;  // parameters with a mistake of their own: their uses are not checked

  // The parameter of that name, or a problem at `node` that suggests one of `kind` ("input", say).
  const Parameter* named(const Node& node, const std::string& name, bool (*fits)(const Parameter&),
                         const std::string& kind) const;
};

// Each reads its keys of the top-level object into the spec; parameters first, the others use them.
void read_parameters(const Node& root, Reading& reading);
void read_requirements(const Node& root, Reading& reading);
void read_cases(const Node& root, Reading& reading);
void read_reference(const Node& root, Reading& reading);
void read_tolerance(const Node& root, Reading& reading);
void read_inputs(const Node& root, Reading& reading);
void read_stress(const Node& root, Reading& reading);
void read_work(const Node& root, Reading& reading);
void read_tunables(const Node& root, Reading& reading);
void read_launch(const Node& root, Reading& reading);
void read_rules(const Node& root, Reading& reading);
void read_goal(const Node& root, Reading& reading);

// An expression that uses sizes only.
std::optional<Expression> size_expression(const Node& node, const Reading& reading);
// A file inside the golden folder, named relative to it.
std::optional<std::filesystem::path> golden_file(const Node& node, const Reading& reading, std::string_view extension);

// Whether a number is a value of the type: whole and within its range for integers, 0 or 1 for bool.
bool is_value_of(DType dtype, double value);
// Smallest and largest value of an integer type or bool, as double (rounded outwards to 2^63 or 2^64 at most).
double lowest_value(DType dtype);
double highest_value(DType dtype);

// What an output may be off by if the spec says nothing.
Tolerance default_tolerance(DType dtype);

}  // namespace kagent::spec
