// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kagent::proposer {

// What is documented of an architecture: a table of driver/proposer/architectures/.
struct ArchitectureFacts {
  struct Number {
    std::string name;
    double value = 0;
    std::string unit;
    std::string source;  // a document
  };
  struct Statement {
    std::string text;
    std::string source;
    std::string needs;  // "sm_90a": only code compiled for exactly this has it; empty: all of the architecture's
  };
  std::string architecture, name;
  std::vector<Number> numbers;
  std::vector<Statement> statements;
  std::vector<std::string> absent;
};

// Of "sm_90", "sm_90a", "x86-64-v3", ...; nothing for one that has no table. "sm_90a" has what needs it, "sm_90" is
// told that it does not.
std::optional<ArchitectureFacts> architecture_facts(std::string_view architecture);

// The part of the prompt. `device` is the machine in words.
std::string describe_architecture(std::string_view architecture, std::string_view device);

}  // namespace kagent::proposer
