// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/core.h>

#include "proposer/model/config_file.h"
#include "util/problems.h"

namespace kagent::proposer::model {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// Settings of the command line, cache variables and environment.
class Settings {
 public:
  explicit Settings(const ConfigSources& sources) : sources_(sources) {}

  std::optional<std::string> variable(const std::string& name) const {
    auto value = sources_.environment ? sources_.environment(name) : own_environment(name);
    if (value && value->empty()) value.reset();
    return value;
  }

  std::optional<std::string> find(const std::string& name) const {
    const auto given = sources_.settings.find(name);
    const bool as_configured = name == "MODEL_API" && given != sources_.settings.end() && given->second == "model";
    if (given != sources_.settings.end() && !given->second.empty() && !as_configured) return given->second;
    return variable("KAGENT_" + name);
  }

 private:
  const ConfigSources& sources_;
};

fs::path default_user_file(const Settings& settings) {
  if (const auto folder = settings.variable("XDG_CONFIG_HOME"); folder && fs::path(*folder).is_absolute())
    return fs::path(*folder) / "kagent" / "config.json";
  if (const auto home = settings.variable("HOME")) return fs::path(*home) / ".config" / "kagent" / "config.json";
  return {};
}

// The user's word counts before the project's: of a model that both describe, wholly.
ConfigFile merged(ConfigFile user, ConfigFile project) {
  user.models.merge(project.models);
  if (!user.draft && !user.refine) user.draft = project.draft, user.refine = project.refine;
  if (!user.budget.tokens) user.budget.tokens = project.budget.tokens;
  if (!user.budget.money) user.budget.money = project.budget.money;
  return user;
}

std::string known(const ConfigFile& file) {
  std::string names;
  for (const auto& [name, model] : file.models) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "no models are configured; give KAGENT_MODEL_URL or KAGENT_MODEL_API too, or write config.json"
                       : "the configured models are " + names;
}

// A model that the settings describe by themselves.
Result<ModelConfig> model_of_settings(const std::string& model, const Settings& settings) {
  ModelConfig config;
  config.name = model;
  config.model = model;
  if (const auto api = settings.find("MODEL_API")) {
    const auto parsed = parse_api(*api);
    if (!parsed || *parsed == Api::command)
      return failure("KAGENT_MODEL_API is '" + *api + "'", "write openai or anthropic; programs go into config.json");
    config.api = *parsed;
  }
  config.base_url = settings.find("MODEL_URL").value_or("");
  config.key = settings.find("MODEL_KEY").value_or("");
  if (config.key.empty() && settings.variable("KAGENT_API_KEY")) config.key = "env:KAGENT_API_KEY";
  if (const auto complaint = complete_model(config))
    return failure(
        "KAGENT_MODEL_" + std::string(complaint->field == "base_url" ? "URL" : "API") + ": " + complaint->problem,
        complaint->fix);
  return config;
}

Result<ModelConfig> resolve(const std::string& name, const ConfigFile& file, const Settings& settings) {
  if (const auto found = file.models.find(name); found != file.models.end()) return found->second;
  // With models in files, an unknown name is more likely a slip than a provider's: sources do not go elsewhere by it.
  if (settings.find("MODEL_URL") || (settings.find("MODEL_API") && file.models.empty()))
    return model_of_settings(name, settings);
  return failure("there is no model '" + name + "'", known(file));
}

Result<void> read_budget(const Settings& settings, BudgetLimits& budget) {
  const auto number = [](const std::string& text) -> std::optional<double> {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e12) return std::nullopt;
    return value;
  };
  if (const auto text = settings.find("TOKEN_BUDGET")) {
    const auto value = number(*text);
    if (!value || std::trunc(*value) != *value || *value < 1)
      return failure("KAGENT_TOKEN_BUDGET is '" + *text + "'", "write a whole number of tokens, such as 500000");
    budget.tokens = static_cast<std::int64_t>(*value);
  }
  if (const auto text = settings.find("MONEY_BUDGET")) {
    const auto value = number(*text);
    if (!value) return failure("KAGENT_MONEY_BUDGET is '" + *text + "'", "write an amount, such as 2.50");
    budget.money = *value;
  }
  return {};
}

// A limit on money that cannot be watched is none.
Result<void> check_prices(const ModelsConfig& config) {
  if (!config.budget.money) return {};
  const auto is_priced = [](const ModelConfig& model) { return model.prices.input > 0 || model.prices.output > 0; };
  for (const ModelConfig* model : {&config.draft, &config.refine})
    if (!is_priced(*model) && model->base_url.find("://api.") != std::string::npos)
      return failure("a budget of money is set, but the model '" + model->name + "' has no prices",
                     "give its \"prices\" in config.json, or a budget of tokens instead");
  if (is_priced(config.draft) && is_priced(config.refine) &&
      config.draft.prices.currency != config.refine.prices.currency)
    return failure("the models '" + config.draft.name + "' and '" + config.refine.name +
                       "' have prices in different currencies, but there is one budget of money",
                   "give both prices in one currency");
  return {};
}

}  // namespace

Result<std::optional<ModelsConfig>> load_models_config(const ConfigSources& sources) {
  const Settings settings(sources);
  auto user =
      read_config_file(sources.user_file.empty() ? default_user_file(settings) : sources.user_file, FileOf::user);
  if (!user) return std::unexpected(user.error());
  auto project = read_config_file(sources.project_file, FileOf::project);
  if (!project) return std::unexpected(project.error());
  const ConfigFile file = merged(std::move(*user), std::move(*project));

  const auto both = settings.find("MODEL");
  auto draft = settings.find("DRAFT_MODEL"), refine = settings.find("REFINE_MODEL");
  if (!draft) draft = both ? both : file.draft;
  if (!refine) refine = both ? both : file.refine;
  if (!draft) draft = refine;
  if (!refine) refine = draft;
  if (!draft && file.models.size() == 1) draft = refine = file.models.begin()->first;
  if (!draft) {
    if (file.models.empty()) return std::nullopt;
    return failure("several models are configured, and none has a role",
                   "write \"roles\": {\"draft\": \"...\", \"refine\": \"...\"}, or set KAGENT_MODEL; " + known(file));
  }
  ModelsConfig config;
  for (const auto& [name, to] : {std::pair(*draft, &config.draft), std::pair(*refine, &config.refine)}) {
    auto model = resolve(name, file, settings);
    if (!model) return std::unexpected(model.error());
    *to = std::move(*model);
  }
  config.budget = file.budget;
  if (auto read = read_budget(settings, config.budget); !read) return std::unexpected(read.error());
  if (auto priced = check_prices(config); !priced) return std::unexpected(priced.error());
  return config;
}

}  // namespace kagent::proposer::model
