// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kagent::loop {

struct ToolAnswer {
  std::string text;        // for the model
  std::string structured;  // the same as a JSON object; empty: none
  bool failed = false;     // told to the model, which may do better
};

// One tool: `arguments` is the text of a JSON object. `cancelled` says that the client does not wait any more. May
// throw UserError, which the client is told as a failed answer.
struct Tool {
  std::string name, title, description;
  std::string input_schema;  // JSON Schema of the arguments
  bool read_only = true;
  std::function<ToolAnswer(const std::string& arguments, const std::function<bool()>& cancelled)> call;
};

struct ToolServerOptions {
  std::string name, version, instructions;
  std::size_t longest_line = 16 << 20;
};

// Serves the Model Context Protocol on two descriptors, one JSON message a line: revision 2026-07-28, in which every
// request tells its revision itself, and 2024-11-05 to 2025-11-25, which begin with a handshake. Answers while a tool
// runs; tools run one after the other. Returns when the input ends or the output breaks.
void serve_tools(const ToolServerOptions& options, const std::vector<Tool>& tools, int input, int output);

}  // namespace kagent::loop
