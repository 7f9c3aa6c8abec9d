// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/config_file.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "proposer/model/http.h"
#include "proposer/model/secret.h"
#include "util/files.h"
#include "util/problems.h"
#include "util/strict_json.h"

namespace kagent::proposer::model {
namespace {

namespace fs = std::filesystem;
using util::Json;

constexpr const char* kOpenAi = "https://api.openai.com/v1";
constexpr const char* kAnthropic = "https://api.anthropic.com";

// An object of the file; each reading function reports what is wrong, and then leaves its target as it is.
class Object {
 public:
  Object(const Json& value, std::string pointer, util::Problems& problems)
      : value_(value), pointer_(std::move(pointer)), problems_(problems) {
    if (!value_.is_object()) problems_.add(pointer_, "not an object", "write {\"name\": ...}");
  }

  void allow_only(const std::vector<std::string>& keys) const {
    if (!value_.is_object()) return;
    for (const auto& [key, unused] : value_.items())
      if (std::ranges::find(keys, key) == keys.end()) problem(key, "unknown key", util::suggest(key, keys, "key"));
  }

  void problem(const std::string& key, const std::string& what, const std::string& fix) const {
    problems_.add(key.empty() ? pointer_ : util::child_pointer(pointer_, key), what, fix);
  }

  const Json* find(const std::string& key) const {
    if (!value_.is_object()) return nullptr;
    const auto found = value_.find(key);
    return found == value_.end() ? nullptr : &*found;
  }

  template <class F>
  void each(F&& visit) const {
    if (value_.is_object())
      for (const auto& [key, value] : value_.items())
        visit(key, Object(value, util::child_pointer(pointer_, key), problems_));
  }

  std::optional<Object> object(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    return Object(*value, util::child_pointer(pointer_, key), problems_);
  }

  // Values of strings are not shown: a key may stand in the wrong place.
  std::optional<std::string> text(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_string() && !value->get_ref<const std::string&>().empty()) return value->get<std::string>();
    problem(key, "not a string with something in it", "write one in double quotes");
    return std::nullopt;
  }

  void boolean(const std::string& key, bool& to) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (value->is_boolean())
      to = value->get<bool>();
    else
      problem(key, "not true or false", "write true or false, without quotes");
  }

  std::optional<double> number(const std::string& key, double low, double high) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->is_number())
      if (const double number = value->get<double>(); number >= low && number <= high) return number;
    problem(key,
            fmt::format("{} is not a number from {:.15g} to {:.15g}", value->is_number() ? value->dump() : "this", low,
                        high),
            "write one, without quotes");
    return std::nullopt;
  }

  std::optional<std::int64_t> count(const std::string& key, std::int64_t low, std::int64_t high) const {
    const auto value = number(key, static_cast<double>(low), static_cast<double>(high));
    if (!value) return std::nullopt;
    if (std::trunc(*value) == *value) return static_cast<std::int64_t>(*value);
    problem(key, fmt::format("{} is not a whole number", *value), "write a whole number");
    return std::nullopt;
  }

  void texts(const std::string& key, std::vector<std::string>& to) const {
    const Json* value = find(key);
    if (value == nullptr) return;
    const bool good = value->is_array() && !value->empty() && std::ranges::all_of(*value, [](const Json& word) {
                        return word.is_string() && word.get_ref<const std::string&>().find('\0') == std::string::npos;
                      });
    if (good)
      to = value->get<std::vector<std::string>>();
    else
      problem(key, "not a list of strings", "write [\"...\", \"...\"]");
  }

 private:
  const Json& value_;
  std::string pointer_;
  util::Problems& problems_;
};

void read_prices(const Object& object, Prices& prices) {
  object.allow_only({"input", "cached", "output", "currency"});
  constexpr double kMost = 1e6;  // a unit of currency a token
  prices.input = object.number("input", 0, kMost).value_or(0);
  prices.cached = object.number("cached", 0, kMost).value_or(prices.input);
  prices.output = object.number("output", 0, kMost).value_or(0);
  if (const auto currency = object.text("currency")) prices.currency = *currency;
}

void read_limits(const Object& object, ExchangeLimits& limits) {
  object.allow_only({"connect_s", "first_byte_s", "stall_s", "total_s", "reply_bytes", "attempts", "longest_wait_s",
                     "requests_per_minute"});
  const auto seconds = [&](const char* key, std::chrono::milliseconds& to) {
    if (const auto value = object.number(key, 0.001, 86'400))
      to = std::chrono::milliseconds(static_cast<std::int64_t>(*value * 1000));
  };
  seconds("connect_s", limits.connect);
  seconds("first_byte_s", limits.first_byte);
  seconds("stall_s", limits.stall);
  seconds("total_s", limits.total);
  seconds("longest_wait_s", limits.longest_wait);
  if (const auto value = object.count("reply_bytes", 1'024, 256 << 20)) limits.reply_bytes = *value;
  if (const auto value = object.count("attempts", 1, 100)) limits.attempts = static_cast<int>(*value);
  if (const auto value = object.count("requests_per_minute", 1, 100'000))
    limits.requests_per_minute = static_cast<int>(*value);
}

// What a request says of itself is not for `extra` to change.
void read_extra(const Object& object, std::string& extra) {
  const Json* value = object.find("extra");
  if (value == nullptr) return;
  if (!value->is_object()) return object.problem("extra", "not an object", "write {\"reasoning_effort\": \"low\"}");
  for (const char* own : {"model", "messages", "system", "stream", "tools", "tool_choice", "response_format"})
    if (value->contains(own)) object.problem("extra", fmt::format("\"{}\" is kagent's own to set", own), "take it out");
  extra = value->dump(-1, ' ', false, Json::error_handler_t::replace);
}

void read_connection(const Object& object, FileOf whose, ModelConfig& model) {
  if (whose == FileOf::project)
    for (const char* key : {"key", "command", "environment", "ca_file", "allow_http"})
      if (object.find(key) != nullptr)
        object.problem(key, "not for a project's file, which comes with its sources",
                       "move the model into the user's config.json");
  if (const auto api = object.text("api")) {
    const auto known = parse_api(*api);
    if (!known) object.problem("api", "unknown", util::suggest(*api, {"openai", "anthropic", "command"}, "api"));
    model.api = known.value_or(Api::openai);
    if (known == Api::command && whose == FileOf::project)
      object.problem("api", "a project's file names no programs", "move the model into the user's config.json");
  }
  if (const auto key = object.text("key")) {
    if (is_key_source(*key))
      model.key = *key;
    else
      object.problem("key", "neither \"env:NAME\" nor \"file:PATH\" (what stands there is not shown)",
                     "put the key into a variable or a file, and name that here");
  }
  if (const auto file = object.text("ca_file")) model.ca_file = *file;
  object.boolean("allow_http", model.allow_http);
  object.texts("command", model.command);
  object.texts("environment", model.environment);
}

ModelConfig read_model(const std::string& name, const Object& object, FileOf whose) {
  object.allow_only({"api", "base_url", "model", "key", "ca_file", "allow_http", "stream", "structured",
                     "max_output_tokens", "temperature", "extra", "prices", "limits", "command", "environment"});
  ModelConfig model;
  model.name = name;
  read_connection(object, whose, model);
  if (const auto url = object.text("base_url")) model.base_url = *url;
  if (const auto id = object.text("model")) model.model = *id;
  object.boolean("stream", model.stream);
  object.boolean("structured", model.structured);
  if (const auto value = object.count("max_output_tokens", 16, 1'000'000)) model.max_output_tokens = *value;
  if (const auto value = object.number("temperature", 0, 2)) model.temperature = *value;
  read_extra(object, model.extra);
  if (const auto prices = object.object("prices")) read_prices(*prices, model.prices);
  if (const auto limits = object.object("limits")) read_limits(*limits, model.limits);
  if (const auto complaint = complete_model(model))
    object.problem(complaint->field, complaint->problem, complaint->fix);
  return model;
}

// The parser quotes what it read last, which may be a key.
StageError without_quotes(StageError error) {
  if (const auto at = error.message.find("; last read: "); at != std::string::npos) {
    const auto end = error.message.find('\n', at);
    error.message.erase(at, end == std::string::npos ? end : end - at);
  }
  return error;
}

}  // namespace

std::optional<Api> parse_api(const std::string& text) {
  if (text == "openai") return Api::openai;
  if (text == "anthropic") return Api::anthropic;
  if (text == "command") return Api::command;
  return std::nullopt;
}

std::optional<Complaint> complete_model(ModelConfig& model) {
  if (model.api == Api::command) {
    if (model.command.empty())
      return Complaint{"command", "missing", "write the program and its arguments: [\"my-agent\", \"--print\"]"};
    return std::nullopt;
  }
  if (!model.command.empty()) return Complaint{"command", "only for \"api\": \"command\"", "take one of them out"};
  const bool anthropic = model.api == Api::anthropic;
  if (model.base_url.empty()) model.base_url = anthropic ? kAnthropic : kOpenAi;
  while (model.base_url.ends_with('/')) model.base_url.pop_back();
  if (const std::string problem = url_problem(model.base_url, model.allow_http); !problem.empty())
    return Complaint{"base_url", problem, "name the server as https://HOST/PATH"};
  for (const std::string path : {"/chat/completions", "/messages"})
    if (model.base_url.ends_with(path))
      return Complaint{"base_url", "ends with " + path, "leave that out: it is added to the base URL"};
  if (model.model.empty()) return Complaint{"model", "missing", "write the model's name as its provider has it"};
  // To their own addresses only.
  if (model.key.empty() && model.base_url == kOpenAi) model.key = "env:OPENAI_API_KEY";
  if (model.key.empty() && (model.base_url == kAnthropic || model.base_url == std::string(kAnthropic) + "/v1"))
    model.key = "env:ANTHROPIC_API_KEY";
  return std::nullopt;
}

Result<ConfigFile> read_config_file(const fs::path& file, FileOf whose) {
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return ConfigFile{};
  const auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  util::Problems problems;
  const Json root = util::parse_strictly(*text, problems);
  if (!problems.empty()) return std::unexpected(without_quotes(problems.error(file)));
  const Object top(root, "", problems);
  top.allow_only({"$schema", "models", "roles", "budget"});
  ConfigFile config;
  if (const auto models = top.object("models"))
    models->each([&](const std::string& name, const Object& model) {
      config.models.emplace(name, read_model(name, model, whose));
    });
  if (const auto roles = top.object("roles")) {
    roles->allow_only({"draft", "refine"});
    config.draft = roles->text("draft");
    config.refine = roles->text("refine");
  }
  if (const auto budget = top.object("budget")) {
    budget->allow_only({"tokens", "money"});
    config.budget.tokens = budget->count("tokens", 1, 1'000'000'000'000);
    config.budget.money = budget->number("money", 0, 1e9);
  }
  if (!problems.empty()) return std::unexpected(without_quotes(problems.error(file)));
  return config;
}

}  // namespace kagent::proposer::model
