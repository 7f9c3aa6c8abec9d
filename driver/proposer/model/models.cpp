// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/models.h"

#include <cstdlib>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "proposer/model/anthropic.h"
#include "proposer/model/command.h"
#include "proposer/model/openai.h"
#include "proposer/model/retry.h"
#include "proposer/model/secret.h"

namespace kagent::proposer::model {
namespace {

using Keys = std::vector<std::shared_ptr<const Secret>>;

std::optional<std::string> own_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::shared_ptr<ChatModel> make_client(const ModelConfig& config, std::shared_ptr<const Secret> key,
                                       const Environment& environment, Keys& keys) {
  switch (config.api) {
    case Api::openai:
      return std::make_shared<OpenAiModel>(config, std::move(key));
    case Api::anthropic:
      return std::make_shared<AnthropicModel>(config, std::move(key));
    case Api::command: {
      auto model = std::make_shared<CommandModel>(config, environment);
      keys.insert(keys.end(), model->keys().begin(), model->keys().end());
      return model;
    }
  }
  return nullptr;
}

Result<std::shared_ptr<ChatModel>> make_model(const ModelConfig& config, const Environment& environment, Keys& keys) {
  auto key = read_key(config.key, environment);
  if (!key) return failure("the model '" + config.name + "' cannot be asked: " + key.error().message, key.error().fix);
  auto shared = std::make_shared<const Secret>(std::move(*key));
  keys.push_back(shared);
  return std::make_shared<RetryingModel>(make_client(config, shared, environment, keys), config.limits, real_pause(),
                                         std::random_device()());
}

}  // namespace

Result<RoleModels> make_models(const ModelsConfig& config, std::function<std::filesystem::path()> folder,
                               const Environment& environment) {
  const Environment variables = environment ? environment : own_environment;
  Keys keys;
  auto draft = make_model(config.draft, variables, keys);
  if (!draft) return std::unexpected(draft.error());
  auto refine = config.draft == config.refine ? draft : make_model(config.refine, variables, keys);
  if (!refine) return std::unexpected(refine.error());

  RoleModels models;
  models.budget = std::make_shared<Budget>(config.budget);
  models.log = std::make_shared<ExchangeLog>(std::move(folder), std::move(keys));
  const auto around = [&](std::shared_ptr<ChatModel> inner, const ModelConfig& model, const std::string& role) {
    auto budgeted =
        std::make_shared<BudgetedModel>(std::move(inner), models.budget, role, model.prices, model.max_output_tokens);
    return std::make_shared<RecordingModel>(std::move(budgeted), models.log, role);
  };
  models.draft = around(*draft, config.draft, "draft");
  models.refine = around(*refine, config.refine, "refine");
  return models;
}

RoleModels preview_models(const ModelsConfig& config) {
  Keys keys;
  RoleModels models;
  models.draft = make_client(config.draft, std::make_shared<const Secret>(), own_environment, keys);
  models.refine = make_client(config.refine, std::make_shared<const Secret>(), own_environment, keys);
  models.budget = std::make_shared<Budget>(config.budget);
  return models;
}

Result<RoleModels> replay_models(const std::filesystem::path& recorded, ReplayCheck check) {
  auto exchanges = read_exchanges(recorded);
  if (!exchanges) return std::unexpected(exchanges.error());
  return replay_models(std::move(*exchanges), check, {});
}

RoleModels replay_models(std::vector<Exchange> exchanges, ReplayCheck check, const BudgetLimits& limits) {
  RoleModels models;
  models.budget = std::make_shared<Budget>(limits);
  models.replay = std::make_shared<Replay>(std::move(exchanges), check);
  models.draft = std::make_shared<ReplayModel>(models.replay, models.budget, "draft");
  models.refine = std::make_shared<ReplayModel>(models.replay, models.budget, "refine");
  return models;
}

}  // namespace kagent::proposer::model
