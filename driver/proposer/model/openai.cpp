// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/openai.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "proposer/model/assembly.h"
#include "proposer/model/json_fields.h"
#include "util/shallow_json.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

// A message's content: a text, or a list of parts with texts.
std::string content_of(const Json& content) {
  if (!content.is_array()) return text_of(content);
  std::string text;
  for (const Json& part : content) text += text_of(field(part, "text"));
  return text;
}

class CompletionAssembly : public Assembly {
 public:
  using Assembly::Assembly;

  void event(std::string_view data) override {
    if (data == "[DONE]") {
      ended_ = true;
      return;
    }
    if (data.find_first_not_of(" \t\n") == std::string_view::npos) return;
    const Json root = util::parse_shallow(util::clean(data, data.size() * 3));
    if (root.is_object())
      take(root, data);
    else
      fail(ChatErrorKind::malformed, "a part of the stream is not JSON: " + failure_text(std::string(data)));
  }

  void whole(const std::string& body) override {
    const Json root = util::parse_shallow(util::clean(body, body.size() * 3));
    if (!root.is_object()) {
      fail(ChatErrorKind::malformed, "the reply is not JSON but " + failure_text(body));
    } else {
      take(root, body);
      if (!any_choice_) fail(ChatErrorKind::malformed, "the reply has no \"choices\": " + failure_text(body));
    }
    ended_ = true;
  }

 private:
  void take(const Json& root, std::string_view raw) {
    if (const Json& error = field(root, "error"); !error.is_null() && error != Json::object()) {
      fail_as_told(raw);
      return;
    }
    if (const std::string model = text_of(field(root, "model")); !model.empty()) reply_.model = model;
    take_usage(field(root, "usage"));
    const Json& choices = field(root, "choices");
    if (!choices.is_array() || choices.empty()) return;
    any_choice_ = true;
    take_choice(choices[0]);
  }

  void take_choice(const Json& choice) {
    const Json& delta = field(choice, "delta");
    const Json& message = delta.is_null() ? field(choice, "message") : delta;
    reply_.text += content_of(field(message, "content"));
    for (const char* key : {"reasoning_content", "reasoning"})
      if (const std::string reasoning = text_of(field(message, key)); !reasoning.empty()) {
        reply_.reasoning += reasoning;  // servers that write both mean the same text
        break;
      }
    if (const std::string refusal = text_of(field(message, "refusal")); !refusal.empty()) refuse(refusal);
    const std::string finish = text_of(field(choice, "finish_reason"));
    if (!finish.empty()) ended_ = true;
    if (finish == "length") reply_.finish = Finish::length;
    if (finish == "content_filter") refuse("(finish_reason content_filter)");
  }

  void take_usage(const Json& usage) {
    const auto input = count_of(field(usage, "prompt_tokens"));
    const auto output = count_of(field(usage, "completion_tokens"));
    if (!input && !output) return;
    usage_told_ = true;
    reply_.usage.input_tokens = input.value_or(0);
    reply_.usage.output_tokens = output.value_or(0);
    auto cached = count_of(field(field(usage, "prompt_tokens_details"), "cached_tokens"));
    if (!cached) cached = count_of(field(usage, "prompt_cache_hit_tokens"));
    reply_.usage.cached_tokens = std::min(cached.value_or(0), reply_.usage.input_tokens);
  }

  bool any_choice_ = false;
};

bool names_any(const std::string& words, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return words.find(name) != std::string::npos; });
}

}  // namespace

OpenAiModel::OpenAiModel(const ModelConfig& config, std::shared_ptr<const Secret> key)
    : endpoint_{config, std::move(key), "/chat/completions", "Authorization: Bearer ", {}} {
  endpoint_.headers.push_back(config.stream ? "Accept: text/event-stream, application/json"
                                            : "Accept: application/json");
  features_.schema = config.structured;
  features_.stream = config.stream;
  // OpenAI's own newer models refuse the older name, other servers do not know the newer one.
  features_.max_completion_tokens = config.base_url.starts_with("https://api.openai.com/");
}

std::string OpenAiModel::body(const ChatRequest& request, const Features& features) const {
  const ModelConfig& config = endpoint_.config;
  Json body = config.extra.empty() ? Json::object() : util::parse_shallow(config.extra);
  body["model"] = config.model;
  Json& messages = body["messages"] = Json::array();
  for (const ChatMessage& message : request.messages)
    messages.push_back({{"role", model::name(message.author)}, {"content", message.text}});
  const std::int64_t limit = request.max_output_tokens > 0 ? request.max_output_tokens : config.max_output_tokens;
  body[features.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = limit;
  const auto temperature = request.temperature ? request.temperature : config.temperature;
  if (temperature && features.temperature) body["temperature"] = *temperature;
  if (request.seed && features.seed) body["seed"] = *request.seed;
  if (!request.answer_schema.empty() && features.schema)
    if (Json schema = util::parse_shallow(request.answer_schema); schema.is_object())
      body["response_format"] = {
          {"type", "json_schema"},
          {"json_schema", {{"name", "answer"}, {"strict", true}, {"schema", std::move(schema)}}}};
  body["stream"] = features.stream;
  if (features.stream && features.stream_options) body["stream_options"] = {{"include_usage", true}};
  return dumped(body);
}

bool OpenAiModel::give_way(const ChatRequest& request, const std::string& told, Features& features) const {
  std::string words = told;
  std::ranges::transform(words, words.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto drop = [](bool& feature) { return std::exchange(feature, false); };
  if (!request.answer_schema.empty() && features.schema &&
      names_any(words, {"response_format", "json_schema", "schema", "grammar", "structured", "guided"}))
    return drop(features.schema);
  if (features.stream && features.stream_options && names_any(words, {"stream_options", "include_usage"}))
    return drop(features.stream_options);
  if (!features.token_limit_switched && names_any(words, {"max_tokens", "max_completion_tokens"})) {
    features.max_completion_tokens = !features.max_completion_tokens;
    return features.token_limit_switched = true;
  }
  const bool has_temperature = request.temperature || endpoint_.config.temperature;
  if (has_temperature && features.temperature && names_any(words, {"temperature"})) return drop(features.temperature);
  if (request.seed && features.seed && names_any(words, {"seed"})) return drop(features.seed);
  if (features.stream && names_any(words, {"stream"})) return drop(features.stream);
  return false;
}

ChatResult OpenAiModel::attempt(const ChatRequest& request, const Features& features, const GiveUp& give_up) const {
  CompletionAssembly assembly(endpoint_);
  return ask(endpoint_, body(request, features), assembly, request, give_up);
}

ChatResult OpenAiModel::complete(const ChatRequest& request, const GiveUp& give_up) {
  std::unique_lock lock(mutex_);
  Features features = features_;
  lock.unlock();
  while (true) {
    ChatResult result = attempt(request, features, give_up);
    if (result || result.error().kind != ChatErrorKind::bad_request) return result;
    if (result.error().http_status != 400 && result.error().http_status != 422) return result;
    if (!give_way(request, result.error().message, features)) return result;
    lock.lock();
    features_ = features;
    lock.unlock();
  }
}

std::string OpenAiModel::preview(const ChatRequest& request) const {
  const std::lock_guard lock(mutex_);
  return endpoint_.preview(body(request, features_));
}

}  // namespace kagent::proposer::model
