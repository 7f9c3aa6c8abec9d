// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "proposer/model/budget.h"
#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "values/error.h"

namespace kagent::proposer::model {

// The models of a run by role, each with retries, prices, the shared budget and the record around it.
struct RoleModels {
  std::shared_ptr<ChatModel> draft, refine;
  std::shared_ptr<Budget> budget;
};

// Reads the keys. `folder` says where the next exchange is recorded ("exchange-NNN.json", numbered through the run);
// null: nowhere.
Result<RoleModels> make_models(const ModelsConfig& config, std::function<std::filesystem::path()> folder);

// Answers both roles from the exchanges recorded anywhere under `recorded`, in their order.
Result<RoleModels> replay_models(const std::filesystem::path& recorded);

}  // namespace kagent::proposer::model
