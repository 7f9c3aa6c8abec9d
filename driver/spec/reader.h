// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/problems.h"
#include "util/strict_json.h"
#include "values/expression.h"

namespace kagent::spec {

// A value of kernel.json with the way to it. Each reading function reports what is wrong, and then gives nothing.
class Node {
 public:
  Node(const util::Json& value, std::string pointer, util::Problems& problems)
      : value_(&value), pointer_(std::move(pointer)), problems_(&problems) {}

  const util::Json& value() const { return *value_; }
  const std::string& pointer() const { return pointer_; }
  void problem(const std::string& what, const std::string& fix) const { problems_->add(pointer_, what, fix); }

  // An object with no other keys than these (and a hint for a key that is near to one of them).
  bool is_object_of(const std::vector<std::string>& keys) const;
  bool is_object() const;
  bool is_array() const;
  bool has(const std::string& key) const;
  std::optional<Node> find(const std::string& key) const;
  // As find, but reports a missing key.
  std::optional<Node> require(const std::string& key, const std::string& fix) const;
  std::vector<Node> elements() const;                         // of an array
  std::vector<std::pair<std::string, Node>> members() const;  // of an object, in file order

  std::optional<std::string> text(const std::string& fix = "write a string in double quotes") const;
  std::optional<std::int64_t> integer(std::int64_t low, std::int64_t high) const;
  std::optional<double> number(double low, double high) const;
  std::optional<bool> boolean() const;
  // A string, or an integer that is not negative, as an expression.
  std::optional<Expression> expression() const;

 private:
  const util::Json* value_;
  std::string pointer_;
  util::Problems* problems_;
};

// A JSON value for a message: short, on one line.
std::string shown(const util::Json& value);

bool is_identifier(std::string_view text);            // of C, whatever it means
bool is_qualified_identifier(std::string_view text);  // "ns::name"
bool is_cpp_keyword(std::string_view text);
// Names of kernels and cases become file names and parts of git branches.
bool is_file_name_part(std::string_view text, bool dots);

}  // namespace kagent::spec
