// SPDX-License-Identifier: Apache-2.0
#include "proposer/architecture.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "proposer/embedded.h"
#include "proposer/prompt_text.h"
#include "values/error.h"

namespace kagent::proposer {

namespace {

using Json = nlohmann::json;

ArchitectureFacts read(const Json& table) {
  ArchitectureFacts facts;
  facts.architecture = table.at("architecture").get<std::string>();
  facts.name = table.at("name").get<std::string>();
  const auto source = [&](const Json& entry) {
    return table.at("sources").at(entry.at("source").get<std::string>()).get<std::string>();
  };
  for (const Json& entry : table.at("facts"))
    facts.numbers.push_back({entry.at("name").get<std::string>(), entry.at("value").get<double>(),
                             entry.at("unit").get<std::string>(), source(entry)});
  for (const Json& entry : table.at("words"))
    facts.statements.push_back({entry.at("text").get<std::string>(), source(entry), entry.value("needs", "")});
  for (const Json& entry : table.at("absent")) facts.absent.push_back(entry.get<std::string>());
  return facts;
}

// "sm_90" of "sm_90a" and "sm_100f".
std::string_view without_suffix(std::string_view architecture) {
  const bool specific = architecture.starts_with("sm_") && (architecture.ends_with('a') || architecture.ends_with('f'));
  return specific ? architecture.substr(0, architecture.size() - 1) : architecture;
}

}  // namespace

std::optional<ArchitectureFacts> architecture_facts(std::string_view architecture) {
  const std::string_view base = without_suffix(architecture);
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.name.ends_with(".json") || file.name == "answer.schema.json") continue;
    const Json table = Json::parse(file.text);
    const Json& also = table.at("also");
    const bool alias = std::ranges::any_of(also, [&](const Json& other) { return other == base; });
    if (table.at("architecture") != base && !alias) continue;
    ArchitectureFacts facts = read(table);
    for (const auto& statement : facts.statements)
      if (!statement.needs.empty() && base == architecture)
        facts.absent.push_back(fmt::format("what code for {} alone has: {}", statement.needs,
                                           statement.text.substr(0, statement.text.find(' '))));
    std::erase_if(facts.statements, [&](const auto& one) { return !one.needs.empty() && base == architecture; });
    return facts;
  }
  return std::nullopt;
}

std::string describe_architecture(std::string_view architecture, std::string_view device) {
  const auto facts = architecture_facts(architecture);
  std::string machine;
  if (!device.empty()) machine = "Measured on: " + on_one_line(device) + "\n";
  if (!facts) return "# Machine\n\n" + machine + "Architecture: " + on_one_line(architecture) + "\n";
  std::string lines, absent, sources;
  std::vector<std::string> named;
  const auto name = [&](const std::string& source) {
    if (std::ranges::find(named, source) != named.end()) return;
    named.push_back(source);
    sources += (sources.empty() ? "" : "; ") + source;
  };
  for (const auto& number : facts->numbers) {
    lines += fmt::format("- {}: {} {}\n", number.name, number.value, number.unit);
    name(number.source);
  }
  for (const auto& statement : facts->statements) {
    lines += "- " + statement.text + "\n";
    name(statement.source);
  }
  for (const std::string& one : facts->absent) absent += (absent.empty() ? "" : "; ") + one;
  return fill("architecture.txt", {{"device", machine},
                                   {"name", facts->name},
                                   {"architecture", std::string(architecture)},
                                   {"facts", lines},
                                   {"absent", absent},
                                   {"sources", sources}});
}

}  // namespace kagent::proposer
