// SPDX-License-Identifier: Apache-2.0
#include "loop/tool_server.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "util/shallow_json.h"
#include "util/text.h"
#include "values/error.h"

namespace kagent::loop {
namespace {

using nlohmann::json;

// Error codes of JSON-RPC 2.0, and of the protocol's revision 2026-07-28.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602;
constexpr int kInternalError = -32603, kUnsupportedRevision = -32022;

constexpr const char* kStateless = "2026-07-28";
constexpr std::array kHandshakes{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};  // the newest first
constexpr const char* kWithBatches = "2025-03-26";  // the one revision that has them

constexpr const char* kRevisionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";

struct ProtocolError {
  int code;
  std::string message;
  json data = {};
};

json error_message(const json& id, const ProtocolError& error) {
  json body{{"code", error.code}, {"message", error.message}};
  if (!error.data.is_null()) body["data"] = error.data;
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(body)}};
}

bool is_id(const json& id) {
  return id.is_string() || id.is_number_integer();
}

// Lines of a descriptor. One that is too long is left out, and told as such.
class LineReader {
 public:
  LineReader(int descriptor, std::size_t longest) : descriptor_(descriptor), longest_(longest) {}

  enum class Kind { line, too_long, end };
  Kind next(std::string& line) {
    for (;;) {
      if (const auto at = buffer_.find('\n', searched_); at != std::string::npos) {
        line = buffer_.substr(0, at);
        buffer_.erase(0, at + 1);
        searched_ = 0;
        const bool skipped = std::exchange(skipping_, false);
        if (skipped || line.size() > longest_) return Kind::too_long;
        return Kind::line;
      }
      if (buffer_.size() > longest_) skipping_ = true, buffer_.clear();
      searched_ = buffer_.size();
      char part[65536];
      const ssize_t got = ::read(descriptor_, part, sizeof part);
      if (got < 0 && errno == EINTR) continue;
      // A line without its end was cut off with its sender.
      if (got <= 0) return Kind::end;
      buffer_.append(part, static_cast<std::size_t>(got));
    }
  }

 private:
  int descriptor_;
  std::size_t longest_, searched_ = 0;
  std::string buffer_;
  bool skipping_ = false;
};

class Server {
 public:
  Server(const ToolServerOptions& options, const std::vector<Tool>& tools, int input, int output)
      : options_(options), tools_(tools), lines_(input, options.longest_line), output_(output) {}

  void serve() {
    std::jthread worker([this] { work(); });
    std::string line;
    for (auto kind = lines_.next(line); kind != LineReader::Kind::end && !broken_; kind = lines_.next(line)) {
      if (kind == LineReader::Kind::too_long)
        send(error_message(nullptr, {kParseError, "a line of more than " + std::to_string(options_.longest_line) +
                                                      " bytes is not read"}));
      else if (line.find_first_not_of(" \t\r") != std::string::npos)
        receive(line);
    }
    std::lock_guard lock(mutex_);
    closing_ = true;
    for (auto& call : calls_) call->cancelled = true;
    if (running_) running_->cancelled = true;
    arrived_.notify_all();
  }

 private:
  // A batch is answered as a whole, once its last call is.
  struct Batch {
    std::size_t open = 0;
    json answers = json::array();
  };
  struct Call {
    json id;
    const Tool* tool = nullptr;
    std::string arguments;
    bool stateless = false;
    std::shared_ptr<Batch> batch;
    std::atomic<bool> cancelled{false};
  };

  void receive(const std::string& line) {
    if (util::nests_too_deeply(line))
      return send(error_message(nullptr, {kParseError, "the line is nested too deeply"}));
    const json message = json::parse(line, nullptr, false);
    if (message.is_discarded()) return send(error_message(nullptr, {kParseError, "the line is not JSON in UTF-8"}));
    if (!message.is_array()) return dispatch(message, nullptr);
    if (revision_ != kWithBatches || message.empty())
      return send(error_message(
          nullptr, {kInvalidRequest, message.empty() ? "the batch is empty" : "this revision has no batches"}));
    auto batch = std::make_shared<Batch>();
    batch->open = message.size() + 1;  // itself, until all were dispatched
    for (const json& one : message) dispatch(one, batch);
    close_one(batch);
  }

  void dispatch(const json& message, const std::shared_ptr<Batch>& batch) {
    const bool object = message.is_object();
    const json id = object && message.contains("id") ? message["id"] : json();
    if (!object || message.value("jsonrpc", json()) != "2.0" || (!id.is_null() && !is_id(id)) ||
        (message.contains("id") && id.is_null()))
      return answer(batch, error_message(is_id(id) ? id : json(), {kInvalidRequest, "not a message of JSON-RPC 2.0"}));
    if (!message.contains("method")) return close_one(batch);  // an answer: nothing was asked
    if (!message["method"].is_string())
      return answer(batch, error_message(id, {kInvalidRequest, "'method' is not a string"}));
    const std::string method = message["method"];
    const json params = message.value("params", json::object());
    if (!message.contains("id")) {
      notified(method, params);
      return close_one(batch);
    }
    if (!params.is_object()) return answer(batch, error_message(id, {kInvalidParams, "'params' is not an object"}));
    try {
      if (auto result = handle(id, method, params, batch)) {
        answer(batch, {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(*result)}});
      }
    } catch (const ProtocolError& error) {
      answer(batch, error_message(id, error));
    }
  }

  void notified(const std::string& method, const json& params) {
    if (method != "notifications/cancelled" || !params.is_object() || !params.contains("requestId")) return;
    std::lock_guard lock(mutex_);
    for (auto& call : calls_)
      if (call->id == params["requestId"]) call->cancelled = true;
    if (running_ && running_->id == params["requestId"]) running_->cancelled = true;
  }

  // Whether the request is of the revision without a handshake. Throws ProtocolError for one that is not known.
  static bool is_stateless(const json& params) {
    const json meta = params.value("_meta", json::object());
    if (!meta.is_object() || !meta.contains(kRevisionKey)) return false;
    const json& revision = meta[kRevisionKey];
    if (!revision.is_string()) throw ProtocolError{kInvalidParams, std::string(kRevisionKey) + " is not a string"};
    if (revision != kStateless)
      throw ProtocolError{
          kUnsupportedRevision, "Unsupported protocol version", {{"supported", {kStateless}}, {"requested", revision}}};
    return true;
  }

  // The result, or nothing where it comes later.
  std::optional<json> handle(const json& id, const std::string& method, const json& params,
                             const std::shared_ptr<Batch>& batch) {
    const bool stateless = is_stateless(params);
    if (!stateless && method == "initialize") return initialize(params);
    if (!stateless && method == "ping") return json::object();
    if (stateless && method == "server/discover") return discover();
    const bool known = method == "tools/list" || method == "tools/call";
    if (!known) throw ProtocolError{kMethodNotFound, "there is no method '" + util::clean(method, 100) + "'"};
    if (!stateless && revision_.empty()) throw ProtocolError{kInvalidRequest, "'initialize' comes first"};
    if (method == "tools/list") return list(stateless);
    call(id, params, stateless, batch);
    return std::nullopt;
  }

  json server_info() const { return {{"name", options_.name}, {"version", options_.version}}; }

  json initialize(const json& params) {
    const json wanted = params.value("protocolVersion", json());
    if (!wanted.is_string()) throw ProtocolError{kInvalidParams, "'protocolVersion' is not a string"};
    revision_ = kHandshakes.front();
    for (const char* known : kHandshakes)
      if (wanted == known) revision_ = known;
    return {{"protocolVersion", revision_},
            {"capabilities", {{"tools", json::object()}}},
            {"serverInfo", server_info()},
            {"instructions", options_.instructions}};
  }

  json discover() const {
    return completed({{"supportedVersions", {kStateless}},
                      {"capabilities", {{"tools", json::object()}}},
                      {"instructions", options_.instructions},
                      {"ttlMs", 0},
                      {"cacheScope", "private"}});
  }

  json completed(json result) const {
    result["resultType"] = "complete";
    result["_meta"] = {{kServerKey, server_info()}};
    return result;
  }

  json list(bool stateless) const {
    json tools = json::array();
    for (const Tool& tool : tools_)
      tools.push_back({{"name", tool.name},
                       {"title", tool.title},
                       {"description", tool.description},
                       {"inputSchema", json::parse(tool.input_schema)},
                       {"annotations", {{"readOnlyHint", tool.read_only}, {"openWorldHint", false}}}});
    json result{{"tools", std::move(tools)}};
    if (!stateless) return result;
    result["ttlMs"] = 0;
    result["cacheScope"] = "private";
    return completed(std::move(result));
  }

  void call(const json& id, const json& params, bool stateless, const std::shared_ptr<Batch>& batch) {
    const json name = params.value("name", json());
    const auto tool = std::ranges::find_if(tools_, [&](const Tool& one) { return name == one.name; });
    if (tool == tools_.end())
      throw ProtocolError{kInvalidParams, "there is no tool '" +
                                              util::clean(name.is_string() ? name.get<std::string>() : "", 100) + "'"};
    const json arguments = params.value("arguments", json::object());
    if (!arguments.is_object()) throw ProtocolError{kInvalidParams, "'arguments' is not an object"};
    auto one = std::make_shared<Call>();
    one->id = id;
    one->tool = &*tool;
    one->arguments = arguments.dump(-1, ' ', false, json::error_handler_t::replace);
    one->stateless = stateless;
    one->batch = batch;
    std::lock_guard lock(mutex_);
    calls_.push_back(std::move(one));
    arrived_.notify_all();
  }

  void work() {
    for (;;) {
      std::shared_ptr<Call> call;
      {
        std::unique_lock lock(mutex_);
        arrived_.wait(lock, [this] { return closing_ || !calls_.empty(); });
        if (calls_.empty()) return;
        call = running_ = calls_.front();
        calls_.pop_front();
      }
      std::optional<json> reply;
      if (!call->cancelled) reply = run(*call);
      {
        std::lock_guard lock(mutex_);
        running_.reset();
      }
      // Nobody waits for the answer to a call that was cancelled.
      if (reply && !call->cancelled)
        answer(call->batch, *reply);
      else
        close_one(call->batch);
    }
  }

  json run(Call& call) const {
    ToolAnswer answer;
    try {
      answer = call.tool->call(call.arguments, [&call] { return call.cancelled.load(); });
    } catch (const UserError& error) {
      answer = {std::string(error.what()) + (error.fix().empty() ? "" : "\nfix: " + error.fix()), "", true};
    } catch (const std::exception& error) {
      return error_message(call.id, {kInternalError, "internal error: " + util::clean(error.what(), 500)});
    }
    json result{{"content", {{{"type", "text"}, {"text", util::clean(answer.text, answer.text.size())}}}},
                {"isError", answer.failed}};
    json structured = json::parse(answer.structured, nullptr, false);
    if (structured.is_object()) result["structuredContent"] = std::move(structured);
    if (call.stateless) result = completed(std::move(result));
    return {{"jsonrpc", "2.0"}, {"id", call.id}, {"result", std::move(result)}};
  }

  void answer(const std::shared_ptr<Batch>& batch, const json& message) {
    if (!batch) return send(message);
    {
      std::lock_guard lock(mutex_);
      batch->answers.push_back(message);
    }
    close_one(batch);
  }

  void close_one(const std::shared_ptr<Batch>& batch) {
    if (!batch) return;
    std::unique_lock lock(mutex_);
    if (--batch->open > 0 || batch->answers.empty()) return;
    const json answers = batch->answers;
    lock.unlock();
    send(answers);
  }

  void send(const json& message) {
    const std::string line = message.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    std::lock_guard lock(output_mutex_);
    for (std::size_t sent = 0; sent < line.size();) {
      const ssize_t wrote = ::write(output_, line.data() + sent, line.size() - sent);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) {
        broken_ = true;
        return;
      }
      sent += static_cast<std::size_t>(wrote);
    }
  }

  const ToolServerOptions& options_;
  const std::vector<Tool>& tools_;
  LineReader lines_;
  int output_;
  std::string revision_;  // agreed on by a handshake; empty before
  std::atomic<bool> broken_{false};
  std::mutex output_mutex_;
  std::mutex mutex_;  // of what follows
  std::condition_variable arrived_;
  std::deque<std::shared_ptr<Call>> calls_;
  std::shared_ptr<Call> running_;
  bool closing_ = false;
};

}  // namespace

void serve_tools(const ToolServerOptions& options, const std::vector<Tool>& tools, int input, int output) {
  Server(options, tools, input, output).serve();
}

}  // namespace kagent::loop
