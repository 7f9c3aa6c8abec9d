// SPDX-License-Identifier: Apache-2.0
#include "loop/proposers.h"

#include <fmt/core.h>

#include "proposer/model/config.h"
#include "proposer/model/models.h"
#include "proposer/model/record.h"

namespace kagent::loop {
namespace {

using proposer::model::RoleModels;

std::string line(const StageError& error) {
  return error.fix.empty() ? error.message : error.message + " (" + error.fix + ")";
}

Result<RoleModels> models_of(const ProposerChoice& choice) {
  if (choice.name == "replay") {
    if (choice.replay.empty())
      return failure("no folder of recorded exchanges is given", "--replay <folder>, or KAGENT_REPLAY");
    // Prompts hold times, and this run measures its own.
    return proposer::model::replay_models(choice.replay, proposer::model::ReplayCheck::order_alone);
  }
  proposer::model::ConfigSources sources;
  sources.settings = choice.settings;
  // A program is configured by itself; a provider's kind may be all that there is to say of it.
  if (choice.name != "command") sources.settings.try_emplace("MODEL_API", choice.name);
  sources.project_file = choice.project / ".kagent.json";
  auto config = proposer::model::load_models_config(sources);
  if (!config) return std::unexpected(config.error());
  if (!*config) return failure("no model is configured", "see docs/agents.md");
  if (choice.name == "command" && (*config)->draft.api != proposer::model::Api::command)
    return failure("the model '" + (*config)->draft.name + "' is no program", "see docs/agents.md");
  if (choice.preview_only) return proposer::model::preview_models(**config);
  std::function<std::filesystem::path()> folder;
  if (!choice.exchanges.empty()) folder = [exchanges = choice.exchanges] { return exchanges; };
  return proposer::model::make_models(**config, std::move(folder));
}

}  // namespace

std::filesystem::path exchanges_folder(const std::filesystem::path& state_folder, const std::string& kernel,
                                       const std::string& architecture) {
  return state_folder / "candidates" / kernel / architecture / "exchanges";
}

std::map<std::string, Usage> recorded_usage(const std::filesystem::path& exchanges) {
  std::map<std::string, Usage> usage;
  std::error_code ignored;
  for (const auto& run : std::filesystem::directory_iterator(exchanges, ignored)) {
    const auto recorded = proposer::model::read_exchanges(run.path());
    if (!recorded) continue;
    for (const proposer::model::Exchange& one : *recorded)
      usage[one.role] += one.result ? one.result->usage : one.result.error().usage;
  }
  return usage;
}

Proposers proposers_of(const RoleModels& models, const std::string& name, const proposer::model::GiveUp& give_up) {
  proposer::WritingOptions options;
  options.name = name;
  options.give_up = give_up;
  Proposers result;
  result.writing = proposer::make_model_proposer(models.draft, models.refine, std::move(options));
  result.draft = models.draft;
  result.budget = models.budget;
  result.log = models.log;
  return result;
}

Proposers make_proposers(const ProposerChoice& choice, const proposer::model::GiveUp& give_up) {
  Proposers result;
  if (choice.name == "search") return result;
  if (choice.name == "agent") {
    result.alone_because = "an agent works through kagent agent or kagent mcp, not within a build";
    return result;
  }
  auto models = models_of(choice);
  if (!models) {
    result.alone_because = line(models.error());
    return result;
  }
  return proposers_of(*models, choice.name, give_up);
}

}  // namespace kagent::loop
