// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/record.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "proposer/model/json_fields.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/shallow_json.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;

Json usage_json(const Usage& usage) {
  return {{"input_tokens", usage.input_tokens},
          {"cached_tokens", usage.cached_tokens},
          {"output_tokens", usage.output_tokens},
          {"cost", usage.cost},
          {"seconds", usage.seconds}};
}

Usage read_usage(const Json& json) {
  const auto number = [&](const char* key) {
    const Json& value = field(json, key);
    return value.is_number() ? value.get<double>() : 0.0;
  };
  Usage usage;
  usage.input_tokens = count_of(field(json, "input_tokens")).value_or(0);
  usage.cached_tokens = count_of(field(json, "cached_tokens")).value_or(0);
  usage.output_tokens = count_of(field(json, "output_tokens")).value_or(0);
  usage.cost = number("cost");
  usage.seconds = number("seconds");
  return usage;
}

Json request_json(const ChatRequest& request) {
  Json messages = Json::array();
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"author", model::name(message.author)}, {"text", message.text}, {"stable", message.stable}});
  Json json = {{"messages", std::move(messages)},
               {"answer_schema", request.answer_schema},
               {"max_output_tokens", request.max_output_tokens}};
  if (request.temperature) json["temperature"] = *request.temperature;
  if (request.seed) json["seed"] = *request.seed;
  return json;
}

Json result_json(const ChatResult& result) {
  if (result) {
    Json json = {
        {"text", result->text},   {"reasoning", result->reasoning},     {"finish", name(result->finish)},
        {"model", result->model}, {"usage", usage_json(result->usage)}, {"usage_estimated", result->usage_estimated}};
    if (result->usage_reported) json["usage_reported_by_agent"] = true;
    return json;
  }
  const ChatError& error = result.error();
  Json json = {{"kind", name(error.kind)},
               {"message", error.message},
               {"http_status", error.http_status},
               {"usage", usage_json(error.usage)}};
  if (error.retry_after) json["retry_after_ms"] = error.retry_after->count();
  return json;
}

// Keys of the text, in every string of it. A key is visible ASCII, so that JSON may only have escaped a quote or a
// backslash in it.
void scrub(Json& json, const std::vector<std::shared_ptr<const Secret>>& keys) {
  if (json.is_string())
    for (const auto& key : keys) json = key->scrub(json.get<std::string>());
  if (json.is_structured())
    for (Json& member : json) scrub(member, keys);
}

std::unexpected<StageError> bad(const fs::path& file, const std::string& what) {
  return failure(file.string() + ": " + what, "replay the folder of a recorded run, as it was written");
}

std::optional<Author> parse_author(const std::string& text) {
  for (const Author author : {Author::system, Author::user, Author::assistant})
    if (name(author) == text) return author;
  return std::nullopt;
}

Result<ChatRequest> read_request(const Json& json, const fs::path& file) {
  ChatRequest request;
  const Json& messages = field(json, "messages");
  if (!messages.is_array()) return bad(file, "/request/messages is not an array");
  for (const Json& message : messages) {
    const auto author = parse_author(text_of(field(message, "author")));
    if (!author || !field(message, "text").is_string()) return bad(file, "/request/messages holds something else");
    request.messages.push_back({*author, text_of(field(message, "text")), field(message, "stable") == Json(true)});
  }
  request.answer_schema = text_of(field(json, "answer_schema"));
  request.max_output_tokens = count_of(field(json, "max_output_tokens")).value_or(0);
  if (const Json& value = field(json, "temperature"); value.is_number()) request.temperature = value.get<double>();
  request.seed = count_of(field(json, "seed"));
  return request;
}

Result<ChatResult> read_result(const Json& root, const fs::path& file) {
  if (const Json& json = field(root, "reply"); json.is_object()) {
    ChatReply reply;
    reply.text = text_of(field(json, "text"));
    reply.reasoning = text_of(field(json, "reasoning"));
    reply.finish = text_of(field(json, "finish")) == name(Finish::length) ? Finish::length : Finish::stop;
    reply.model = text_of(field(json, "model"));
    reply.usage = read_usage(field(json, "usage"));
    reply.usage_estimated = field(json, "usage_estimated") == Json(true);
    reply.usage_reported = field(json, "usage_reported_by_agent") == Json(true);
    return ChatResult(std::move(reply));
  }
  const Json& json = field(root, "error");
  const auto kind = parse_chat_error_kind(text_of(field(json, "kind")));
  if (!kind) return bad(file, "neither /reply nor /error with a known kind");
  ChatError error{*kind, text_of(field(json, "message"))};
  error.http_status = static_cast<int>(std::min<std::int64_t>(count_of(field(json, "http_status")).value_or(0), 999));
  error.usage = read_usage(field(json, "usage"));
  if (const auto after = count_of(field(json, "retry_after_ms"))) error.retry_after = std::chrono::milliseconds(*after);
  return ChatResult(std::unexpected(std::move(error)));
}

bool is_record(const fs::path& file) {
  const std::string stem = file.filename().string();
  return stem.starts_with("exchange-") && stem.ends_with(".json");
}

}  // namespace

std::string prompt_hash(const ChatRequest& request) {
  std::string text;
  const auto add = [&](std::string_view part) { text += fmt::format("{}:{},", part.size(), part); };
  for (const ChatMessage& message : request.messages) {
    add(name(message.author));
    add(message.text);
  }
  add(request.answer_schema);
  return util::sha256(text);
}

std::string to_json(const Exchange& exchange, const std::vector<std::shared_ptr<const Secret>>& keys) {
  Json root = {{"format", kFormat},
               {"number", exchange.number},
               {"role", exchange.role},
               {"asked", exchange.asked},
               {"started", exchange.started},
               {"prompt_sha256", prompt_hash(exchange.request)},
               {"request", request_json(exchange.request)},
               {exchange.result ? "reply" : "error", result_json(exchange.result)}};
  scrub(root, keys);
  return dumped(root, 2) + "\n";
}

Result<Exchange> read_exchange(const fs::path& file) {
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  const Json root = util::parse_shallow(*text);
  if (!root.is_object()) return bad(file, "not a JSON object");
  if (count_of(field(root, "format")) != kFormat) return bad(file, "of another format than " + std::to_string(kFormat));
  Exchange exchange;
  const auto number = count_of(field(root, "number"));
  if (!number || *number < 1 || *number > 1'000'000) return bad(file, "/number is not a count from 1 on");
  exchange.number = static_cast<int>(*number);
  exchange.role = text_of(field(root, "role"));
  exchange.asked = text_of(field(root, "asked"));
  exchange.started = text_of(field(root, "started"));
  auto request = read_request(field(root, "request"), file);
  if (!request) return std::unexpected(request.error());
  exchange.request = std::move(*request);
  auto result = read_result(root, file);
  if (!result) return std::unexpected(result.error());
  exchange.result = std::move(*result);
  return exchange;
}

Result<std::vector<Exchange>> read_exchanges(const fs::path& folder, NoExchanges none) {
  std::error_code error;
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error))
    if (is_record(at->path()) && at->is_regular_file(error)) files.push_back(at->path());
  if (error) return failure("cannot look into " + folder.string() + ": " + error.message(), "name a recorded run");
  if (files.empty() && none == NoExchanges::are_an_error)
    return failure("no exchange-NNN.json in " + folder.string(), "name the folder of a run that asked a model");
  std::vector<Exchange> exchanges;
  for (const fs::path& file : files) {
    auto exchange = read_exchange(file);
    if (!exchange) return std::unexpected(exchange.error());
    exchanges.push_back(std::move(*exchange));
  }
  std::ranges::sort(exchanges, {}, &Exchange::number);
  const auto twice = std::ranges::adjacent_find(exchanges, {}, &Exchange::number);
  if (twice != exchanges.end())
    return failure(fmt::format("{} holds exchange {} twice: these are the records of more than one run",
                               folder.string(), twice->number),
                   "name the folder of one run");
  return exchanges;
}

ExchangeLog::ExchangeLog(std::function<fs::path()> folder, std::vector<std::shared_ptr<const Secret>> keys)
    : folder_(std::move(folder)), keys_(std::move(keys)) {}

void ExchangeLog::write(Exchange exchange) {
  const std::lock_guard lock(mutex_);
  exchange.number = ++last_;
  const fs::path folder = folder_ ? folder_() : fs::path();
  if (folder.empty()) return;
  std::error_code error;
  fs::create_directories(folder, error);
  const fs::path file = folder / fmt::format("exchange-{:03}.json", exchange.number);
  const auto written = util::write_file_atomically(file, to_json(exchange, keys_));
  if (!written && trouble_.empty()) trouble_ = written.error().message;
}

std::string ExchangeLog::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

RecordingModel::RecordingModel(std::shared_ptr<ChatModel> inner, std::shared_ptr<ExchangeLog> log, std::string role)
    : inner_(std::move(inner)), log_(std::move(log)), role_(std::move(role)) {}

ChatResult RecordingModel::complete(const ChatRequest& request, const GiveUp& give_up) {
  const std::string started = util::utc_now();
  ChatResult result = inner_->complete(request, give_up);
  log_->write({0, role_, inner_->name(), started, request, result});
  return result;
}

}  // namespace kagent::proposer::model
