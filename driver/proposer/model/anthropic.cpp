// SPDX-License-Identifier: Apache-2.0
#include "proposer/model/anthropic.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "proposer/model/budget.h"
#include "proposer/model/json_fields.h"
#include "proposer/model/sse.h"
#include "util/text.h"

namespace kagent::proposer::model {
namespace {

constexpr const char* kTool = "answer";
// That the provider takes in one request; the last ones count most.
constexpr std::size_t kMostCacheMarks = 4;

// Puts a reply together from the events of a stream, or from one whole message.
class Assembly {
 public:
  explicit Assembly(const Endpoint& endpoint) : endpoint_(endpoint) {}

  void event(std::string_view data) {
    const Json root = parsed(util::clean(data, data.size() * 3));
    const std::string type = text_of(field(root, "type"));
    if (type == "message_start") {
      start(field(root, "message"));
    } else if (type == "content_block_start") {
      block(field(root, "content_block"));
    } else if (type == "content_block_delta") {
      const Json& delta = field(root, "delta");
      reply_.text += text_of(field(delta, "text"));
      tool_input_ += text_of(field(delta, "partial_json"));
      reply_.reasoning += text_of(field(delta, "thinking"));
    } else if (type == "message_delta") {
      take_usage(field(root, "usage"));
      stop(field(field(root, "delta"), "stop_reason"));
    } else if (type == "message_stop") {
      ended_ = true;
    } else if (type == "error") {
      fail_as_told(std::string(data));
    } else if (!root.is_object()) {
      fail(ChatErrorKind::malformed, "a part of the stream is not JSON: " + failure_text(std::string(data)));
    }  // ping, content_block_stop, and what is not known yet
  }

  void whole(const std::string& body) {
    const Json root = parsed(util::clean(body, body.size() * 3));
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

  ChatResult result(const ChatRequest& request) {
    if (!error_ && refused_) fail(ChatErrorKind::refused, "the model would not answer (stop_reason refusal)");
    if (!error_ && !ended_) fail(ChatErrorKind::network, "the stream ended before the answer did");
    if (!tool_input_.empty()) reply_.text = std::move(tool_input_);
    if (!usage_told_) {
      reply_.usage_estimated = true;
      reply_.usage.input_tokens = estimated_tokens(request);
      reply_.usage.output_tokens = estimated_tokens(reply_.text) + estimated_tokens(reply_.reasoning);
    }
    if (error_) {
      error_->usage = reply_.usage;
      return std::unexpected(*error_);
    }
    for (std::string* text : {&reply_.text, &reply_.reasoning, &reply_.model})
      *text = util::clean(endpoint_.key->scrub(std::move(*text)), static_cast<std::size_t>(-1));
    return std::move(reply_);
  }

 private:
  void fail(ChatErrorKind kind, const std::string& message) {
    if (!error_) error_ = endpoint_.error(kind, endpoint_.config.base_url + ": " + message);
  }

  void fail_as_told(const std::string& body) {
    const std::string words = failure_text(body);
    fail(kind_of_words(words).value_or(ChatErrorKind::overloaded), words);
  }

  void start(const Json& message) {
    reply_.model = text_of(field(message, "model"));
    take_usage(field(message, "usage"));
  }

  // A block that begins, or is whole.
  void block(const Json& content) {
    const std::string type = text_of(field(content, "type"));
    if (type == "text") reply_.text += text_of(field(content, "text"));
    if (type == "thinking") reply_.reasoning += text_of(field(content, "thinking"));
    const Json& input = field(content, "input");
    if (type == "tool_use" && input.is_object() && !input.empty()) tool_input_ += dumped(input);
  }

  void stop(const Json& reason) {
    const std::string text = text_of(reason);
    if (text == "max_tokens" || text == "model_context_window_exceeded") reply_.finish = Finish::length;
    if (text == "refusal") refused_ = true;
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

  const Endpoint& endpoint_;
  ChatReply reply_;
  std::string tool_input_;
  std::optional<ChatError> error_;
  std::int64_t fresh_ = 0, written_ = 0;
  bool ended_ = false, refused_ = false, usage_told_ = false;
};

bool looks_like_stream(const std::string& body) {
  const auto first = body.find_first_not_of("\xEF\xBB\xBF \r\n");
  return first != std::string::npos && (body.compare(first, 6, "event:") == 0 || body.compare(first, 5, "data:") == 0);
}

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
  // Thinking and a forced tool exclude one another.
  tool_ = config.structured && !field(parsed(config.extra), "thinking").is_object();
}

std::string AnthropicModel::body(const ChatRequest& request, bool with_tool) const {
  const ModelConfig& config = endpoint_.config;
  Json body = config.extra.empty() ? Json::object() : parsed(config.extra);
  body["model"] = config.model;
  body["max_tokens"] = request.max_output_tokens > 0 ? request.max_output_tokens : config.max_output_tokens;
  body["stream"] = config.stream;
  const auto temperature = request.temperature ? request.temperature : config.temperature;
  if (temperature) body["temperature"] = *temperature;
  Json schema = with_tool ? parsed(request.answer_schema) : Json();
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
  Assembly assembly(endpoint_);
  SseReader reader([&](std::string_view, std::string_view data) { assembly.event(data); });
  bool streamed = false;
  const auto started = std::chrono::steady_clock::now();
  const auto on_stream = [&](std::string_view piece) {
    streamed = true;
    reader.feed(piece);
  };
  auto reply = endpoint_.post(body(request, with_tool), on_stream, give_up);
  if (reply && !streamed && looks_like_stream(reply->body)) on_stream(reply->body);
  if (streamed) reader.finish();
  if (reply && !streamed) assembly.whole(reply->body);
  ChatResult result = std::unexpected(ChatError{});
  if (reply || streamed) result = assembly.result(request);
  if (!reply && !result) {
    const Usage spent = result.error().usage;
    result = std::unexpected(reply.error());
    result.error().usage = spent;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  (result ? result->usage : result.error().usage).seconds = seconds;
  if (result && reply) result->rate_limits = parse_rate_limits(reply->headers, std::chrono::system_clock::now());
  return result;
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
