// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "proposer/model/budget.h"
#include "proposer/model/chat.h"
#include "proposer/model/models.h"
#include "proposer/writing_proposer.h"

namespace kagent::loop {

// Who proposes beside the built-in search.
struct ProposerChoice {
  std::string name = "search";                       // "openai", "anthropic", "command", "replay", "agent"
  std::map<std::string, std::string> settings = {};  // of the configuration of models, names without the prefix KAGENT_
  std::filesystem::path project;                     // its .kagent.json
  std::filesystem::path replay = {};                 // folder of recorded exchanges
  std::filesystem::path exchanges = {};              // where exchanges are recorded; empty: nowhere
  bool preview_only = false;                         // nothing will be sent: no key is needed
};

struct Proposers {
  std::unique_ptr<proposer::WritingProposer> writing;  // null: the search is alone
  std::shared_ptr<proposer::model::ChatModel> draft;   // what it asks first
  std::shared_ptr<proposer::model::Budget> budget;     // of its models
  std::shared_ptr<proposer::model::ExchangeLog> log;   // null where nothing is recorded
  std::string alone_because;                           // why, where another one was asked for: one line
};

// Where the exchanges with models of all runs of a kernel are recorded, a folder each.
std::filesystem::path exchanges_folder(const std::filesystem::path& state_folder, const std::string& kernel,
                                       const std::string& architecture);

// What models used in all runs recorded there, a role each: also for answers that brought no candidate. Records that
// cannot be read are left out.
std::map<std::string, Usage> recorded_usage(const std::filesystem::path& exchanges);

// Models as a proposer, under a name for what it proposes.
Proposers proposers_of(const proposer::model::RoleModels& models, const std::string& name,
                       const proposer::model::GiveUp& give_up);

// Never fails: what cannot be had leaves the search alone, with the reason.
Proposers make_proposers(const ProposerChoice& choice, const proposer::model::GiveUp& give_up);

}  // namespace kagent::loop
