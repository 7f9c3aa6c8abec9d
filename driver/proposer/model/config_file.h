// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "proposer/model/config.h"
#include "values/error.h"

namespace kagent::proposer::model {

// Whose file it is. A project's comes with its sources, from anybody: it may name models and where they are, but no
// keys, no programs, and nothing that makes a connection less safe.
enum class FileOf { user, project };

struct ConfigFile {
  std::map<std::string, ModelConfig> models;
  std::optional<std::string> draft, refine;  // names of models, perhaps of the other file
  BudgetLimits budget;
};

// An empty one if there is no such file.
Result<ConfigFile> read_config_file(const std::filesystem::path& file, FileOf whose);

// What holds of models from files and of those from settings: the provider's address and key where none is given, and
// what has to be there. What is wrong, with the fix; empty if nothing is.
struct Complaint {
  std::string field, problem, fix;
};
std::optional<Complaint> complete_model(ModelConfig& model);

std::optional<Api> parse_api(const std::string& text);

}  // namespace kagent::proposer::model
