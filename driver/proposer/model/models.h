// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proposer/model/budget.h"
#include "proposer/model/chat.h"
#include "proposer/model/config.h"
#include "proposer/model/record.h"
#include "proposer/model/replay.h"
#include "values/error.h"

namespace kagent::proposer::model {

// The models of a run by role, each with retries, prices, the shared budget and the record around it.
struct RoleModels {
  std::shared_ptr<ChatModel> draft, refine;
  std::shared_ptr<Budget> budget;
  std::shared_ptr<ExchangeLog> log;  // null when replaying
  std::shared_ptr<Replay> replay;    // null when asking
};

// Reads the keys. `folder` says where the next exchange is recorded ("exchange-NNN.json", numbered through the run);
// null: nowhere. Equal roles share one client, and with it what is known of the server and its limits.
Result<RoleModels> make_models(const ModelsConfig& config, std::function<std::filesystem::path()> folder,
                               const Environment& environment = {});

// The same without keys, for ChatModel::preview() alone.
RoleModels preview_models(const ModelsConfig& config);

// Answers both roles from the exchanges recorded anywhere under `recorded`, in their order. The budget only counts.
Result<RoleModels> replay_models(const std::filesystem::path& recorded, ReplayCheck check = ReplayCheck::exact_prompt);
// The same from exchanges that were read already, with the limits that the run had.
RoleModels replay_models(std::vector<Exchange> exchanges, ReplayCheck check, const BudgetLimits& limits);

}  // namespace kagent::proposer::model
