// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "values/candidate.h"
#include "values/error.h"

namespace kagent::proposer::model {

// In one currency per million tokens. None given: costs are 0.
struct Prices {
  double input = 0, cached = 0, output = 0;
  std::string currency = "USD";

  double cost(const Usage& usage) const;
  bool operator==(const Prices&) const = default;
};

// How long, how much and how often. The defaults suit a slow local model as well as a hosted one.
struct ExchangeLimits {
  std::chrono::milliseconds connect{10'000};
  std::chrono::milliseconds first_byte{300'000};  // reading a long prompt, or thinking unseen
  std::chrono::milliseconds stall{60'000};        // between two bytes
  std::chrono::milliseconds total{900'000};       // one attempt
  std::int64_t reply_bytes = 16 << 20;
  int attempts = 5;
  std::chrono::milliseconds longest_wait{120'000};  // that a Retry-After is honoured for
  int requests_per_minute = 0;                      // 0: as many as the provider takes

  bool operator==(const ExchangeLimits&) const = default;
};

enum class Api { openai, anthropic, command };

// One model and the way to it.
struct ModelConfig {
  std::string name;  // in the configuration
  Api api = Api::openai;
  std::string base_url;  // without a slash at its end: "https://api.openai.com/v1"
  std::string model;     // as the provider calls it
  std::string key;       // where the key comes from: "env:NAME" or "file:PATH"; empty: none
  std::filesystem::path ca_file;
  bool allow_http = false;  // plain HTTP to other hosts than this one
  bool stream = true;
  bool structured = true;  // ask for JSON by schema where the server takes one
  std::int64_t max_output_tokens = 8'192;
  std::optional<double> temperature;
  std::string extra;  // a JSON object whose members go into every request
  Prices prices;
  ExchangeLimits limits;
  std::vector<std::string> command;      // Api::command
  std::vector<std::string> environment;  // Api::command: names of variables that it may see

  bool operator==(const ModelConfig&) const = default;
};

struct BudgetLimits {
  std::optional<std::int64_t> tokens;  // input and output of all roles
  std::optional<double> money;
};

// Who proposes, and how much it may cost.
struct ModelsConfig {
  ModelConfig draft, refine;  // equal where one model has both roles
  BudgetLimits budget;
};

// Looks a variable up.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Where the configuration is looked for; each earlier one wins.
struct ConfigSources {
  // From the command line or cache variables, without the prefix KAGENT_: MODEL, DRAFT_MODEL, REFINE_MODEL, MODEL_API,
  // MODEL_URL, MODEL_KEY, TOKEN_BUDGET, MONEY_BUDGET. Empty values count as not given, and a MODEL_API of "model", too.
  std::map<std::string, std::string> settings;
  // Of the environment, where the same names have the prefix. Null: the process's own.
  Environment environment;
  std::filesystem::path user_file;     // empty: $XDG_CONFIG_HOME/kagent/config.json
  std::filesystem::path project_file;  // <project>/.kagent.json
};

// Nothing if no source names a model. Errors name file and JSON pointer, and never show what may be a key.
Result<std::optional<ModelsConfig>> load_models_config(const ConfigSources& sources);

}  // namespace kagent::proposer::model
