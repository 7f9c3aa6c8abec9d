// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proposer/model/chat.h"
#include "proposer/model/secret.h"
#include "values/error.h"

namespace kagent::proposer::model {

// One call of a model, as written to "exchange-NNN.json".
struct Exchange {
  int number = 0;       // from 1 through the run
  std::string role;     // "draft" or "refine"
  std::string asked;    // ChatModel::name()
  std::string started;  // UTC, ISO 8601
  ChatRequest request;
  ChatResult result;
};

// SHA-256 over authors, texts and schema: two requests with the same hash have the same prompt.
std::string prompt_hash(const ChatRequest& request);

// As JSON, without the keys; never throws, whatever bytes a reply held.
std::string to_json(const Exchange& exchange, const std::vector<std::shared_ptr<const Secret>>& keys);
// The error names the file and what is wrong with it.
Result<Exchange> read_exchange(const std::filesystem::path& file);
enum class NoExchanges { are_an_error, allowed };
// Every "exchange-NNN.json" in a folder and the folders under it, by number. A number found twice is an error.
Result<std::vector<Exchange>> read_exchanges(const std::filesystem::path& folder,
                                             NoExchanges none = NoExchanges::are_an_error);

// Where the exchanges of a run are written, of all roles.
class ExchangeLog {
 public:
  // `folder`: where the next one goes; made if it is missing. An empty path: nowhere.
  ExchangeLog(std::function<std::filesystem::path()> folder, std::vector<std::shared_ptr<const Secret>> keys);
  void write(Exchange exchange);
  // Of the first record that could not be written; empty while all could.
  std::string trouble() const;

 private:
  std::function<std::filesystem::path()> folder_;
  std::vector<std::shared_ptr<const Secret>> keys_;
  mutable std::mutex mutex_;
  int last_ = 0;
  std::string trouble_;
};

// Asks another model and writes down what was said.
class RecordingModel : public ChatModel {
 public:
  RecordingModel(std::shared_ptr<ChatModel> inner, std::shared_ptr<ExchangeLog> log, std::string role);
  std::string name() const override { return inner_->name(); }
  ChatResult complete(const ChatRequest& request, const GiveUp& give_up) override;
  std::string preview(const ChatRequest& request) const override { return inner_->preview(request); }

 private:
  std::shared_ptr<ChatModel> inner_;
  std::shared_ptr<ExchangeLog> log_;
  std::string role_;
};

}  // namespace kagent::proposer::model
