// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/anthropic.h"

#include <cstddef>
#include <set>
#include <utility>

#include "proposer/model/assembly.h"
#include "proposer/model/json_fields.h"
#include "util/shallow_json.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

constexpr const char* kTool = "answer";
// That the provider takes in one request; the last ones count most.
constexpr std::size_t kMostCacheMarks = 4;

class MessageAssembly : public Assembly {
 public:
  using Assembly::Assembly;

  void event(std::string_view data) override {
    const Json root = util::parse_shallow(util::clean(data, data.size() * 3));
    const std::string type = text_of(field(root, "type"));
    if (type == "message_start") {
      start(field(root, "message"));
    } else if (type == "content_block_start") {
      block(field(root, "content_block"));
    } else if (type == "content_block_delta") {
      const Json& delta = field(root, "delta");
      add_text(text_of(field(delta, "text")));
      add_tool_input(text_of(field(delta, "partial_json")));
      reply_.reasoning += text_of(field(delta, "thinking"));
    } else if (type == "message_delta") {
      take_usage(field(root, "usage"));
      stop(field(field(root, "delta"), "stop_reason"));
    } else if (type == "message_stop") {
      ended_ = true;
    } else if (type == "error") {
      fail_as_told(data);
    } else if (!root.is_object()) {
      fail(ChatErrorKind::malformed, "a part of the stream is not JSON: " + failure_text(std::string(data)));
    }  // ping, content_block_stop, and what is not known yet
  }

  void whole(const std::string& body) override {
    const Json root = util::parse_shallow(util::clean(body, body.size() * 3));
    if (!root.is_object()) return fail(ChatErrorKind::malformed, "the reply is not JSON but " + failure_text(body));
    if (!field(root, "error").is_null()) return fail_as_told(body);
    const Json& content = field(root, "content");
    if (!content.is_array())
      return fail(ChatErrorKind::malformed, "the reply has no \"content\": " + failure_text(body));
    start(root);
    for (const Json& part : content) block(part);
    stop(field(root, "stop_reason"));
    ended_ = true;
  }

 private:
  void add_text(const std::string& text) {
    if (!in_tool_) reply_.text += text;
  }

  // The answer, instead of what is said beside it.
  void add_tool_input(const std::string& json) {
    if (json.empty()) return;
    if (!in_tool_) reply_.text.clear();
    in_tool_ = true;
    reply_.text += json;
  }

  void start(const Json& message) {
    reply_.model = text_of(field(message, "model"));
    take_usage(field(message, "usage"));
  }

  // A block that begins, or is whole.
  void block(const Json& content) {
    const std::string type = text_of(field(content, "type"));
    if (type == "text") add_text(text_of(field(content, "text")));
    if (type == "thinking") reply_.reasoning += text_of(field(content, "thinking"));
    const Json& input = field(content, "input");
    if (type == "tool_use" && input.is_object() && !input.empty()) add_tool_input(dumped(input));
  }

  void stop(const Json& reason) {
    const std::string text = text_of(reason);
    if (text == "max_tokens" || text == "model_context_window_exceeded") reply_.finish = Finish::length;
    if (text == "refusal") refuse("(stop_reason refusal)");
  }

  // Told at the start, and again, perhaps changed, at the end.
  void take_usage(const Json& usage) {
    const auto take = [&](const char* key, std::int64_t& to) {
      if (const auto count = count_of(field(usage, key))) to = *count, usage_told_ = true;
    };
    take("input_tokens", fresh_);
    take("cache_read_input_tokens", reply_.usage.cached_tokens);
    take("cache_creation_input_tokens", written_);
    take("output_tokens", reply_.usage.output_tokens);
    reply_.usage.input_tokens = fresh_ + written_ + reply_.usage.cached_tokens;
  }

  std::int64_t fresh_ = 0, written_ = 0;
  bool in_tool_ = false;
};

// Indices of the messages that get a cache mark: the last stable ones.
std::set<std::size_t> cache_marks(const std::vector<ChatMessage>& messages) {
  std::set<std::size_t> marks;
  for (std::size_t i = messages.size(); i-- > 0 && marks.size() < kMostCacheMarks;)
    if (messages[i].stable && !messages[i].text.empty()) marks.insert(i);
  return marks;
}

}  // namespace

AnthropicModel::AnthropicModel(const ModelConfig& config, std::shared_ptr<const Secret> key)
    : endpoint_{config, std::move(key), "/v1/messages", "x-api-key: ", {"anthropic-version: 2023-06-01"}} {
  if (endpoint_.config.base_url.ends_with("/v1")) endpoint_.path = "/messages";
  endpoint_.headers.push_back(config.stream ? "Accept: text/event-stream, application/json"
                                            : "Accept: application/json");
  // Thinking and a forced tool exclude one another.
  tool_ = config.structured && !field(util::parse_shallow(config.extra), "thinking").is_object();
}

std::string AnthropicModel::body(const ChatRequest& request, bool with_tool) const {
  const ModelConfig& config = endpoint_.config;
  Json body = config.extra.empty() ? Json::object() : util::parse_shallow(config.extra);
  body["model"] = config.model;
  body["max_tokens"] = request.max_output_tokens > 0 ? request.max_output_tokens : config.max_output_tokens;
  body["stream"] = config.stream;
  const auto temperature = request.temperature ? request.temperature : config.temperature;
  if (temperature) body["temperature"] = *temperature;
  Json schema = with_tool ? util::parse_shallow(request.answer_schema) : Json();
  if (schema.is_object()) {
    body["tools"] = Json::array({{{"name", kTool},
                                  {"description", "Gives the answer. Call it once, with the whole answer."},
                                  {"input_schema", std::move(schema)}}});
    body["tool_choice"] = {{"type", "tool"}, {"name", kTool}};
  }
  const std::set<std::size_t> marks = cache_marks(request.messages);
  Json system = Json::array(), messages = Json::array();
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const ChatMessage& message = request.messages[i];
    if (message.text.empty()) continue;  // refused by the provider
    Json block = {{"type", "text"}, {"text", message.text}};
    if (marks.contains(i)) block["cache_control"] = {{"type", "ephemeral"}};
    if (message.author == Author::system)
      system.push_back(std::move(block));
    else
      messages.push_back({{"role", model::name(message.author)}, {"content", Json::array({std::move(block)})}});
  }
  if (!system.empty()) body["system"] = std::move(system);
  body["messages"] = std::move(messages);
  return dumped(body);
}

ChatResult AnthropicModel::attempt(const ChatRequest& request, bool with_tool, const GiveUp& give_up) const {
  MessageAssembly assembly(endpoint_);
  return ask(endpoint_, body(request, with_tool), assembly, request, give_up);
}

ChatResult AnthropicModel::complete(const ChatRequest& request, const GiveUp& give_up) {
  const bool with_tool = tool_ && !request.answer_schema.empty();
  ChatResult result = attempt(request, with_tool, give_up);
  const bool refused = !result && with_tool && result.error().kind == ChatErrorKind::bad_request &&
                       (result.error().message.find("tool") != std::string::npos ||
                        result.error().message.find("schema") != std::string::npos);
  if (!refused) return result;
  tool_ = false;
  return attempt(request, false, give_up);
}

std::string AnthropicModel::preview(const ChatRequest& request) const {
  return endpoint_.preview(body(request, tool_ && !request.answer_schema.empty()));
}

}  // namespace kagent::proposer::model
