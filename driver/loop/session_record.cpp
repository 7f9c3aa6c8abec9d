// SPDX-License-Identifier: Apache-2.0
#include "loop/session_record.h"

#include <charconv>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "proposer/model/record.h"
#include "util/files.h"
#include "util/text.h"

namespace kagent::loop {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kFormat = 1;

ordered_json to_json(const SessionRecord& record) {
  auto times = ordered_json::array();
  for (const CaseTimes& one : record.baseline_times)
    times.push_back({{"case", one.case_name}, {"weight", one.weight}, {"baseline_ns", one.baseline_ns}});
  const auto optional = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(); };
  return {{"format", kFormat},
          {"number", record.number},
          {"kernel", record.kernel},
          {"architecture", record.architecture},
          {"key", record.key},
          {"started", record.started},
          {"rounds", record.limits.rounds},
          {"time_budget_s", record.limits.time_budget_s},
          {"min_gain", record.limits.min_gain},
          {"goal_speedup", optional(record.limits.goal_speedup)},
          {"token_budget", optional(record.limits.tokens)},
          {"money_budget", optional(record.limits.money)},
          {"device", record.device},
          {"flags", record.flags},
          {"baseline_times", std::move(times)},
          {"parent", record.parent},
          {"second_parent", record.second_parent},
          {"rounds_done", record.rounds_done},
          {"used_s", record.used_s},
          {"best_after_round", record.best_after_round},
          {"failed", record.failed},
          {"trials", record.trials},
          {"exchanges", record.exchanges},
          {"reports", record.reports},
          {"reported_by_agent",
           {{"input_tokens", record.reported.input_tokens},
            {"cached_tokens", record.reported.cached_tokens},
            {"output_tokens", record.reported.output_tokens},
            {"cost", record.reported.cost}}},
          {"accepted", record.accepted},
          {"accepted_ratio", record.accepted_ratio},
          {"roofline_share", optional(record.roofline_share)},
          {"stopped", record.stopped},
          {"finished", record.finished}};
}

// Sessions that were opened before agents could report have none.
void read_reports(const json& root, SessionRecord& record) {
  if (!root.contains("reports")) return;
  record.reports = root.at("reports").get<int>();
  const json& used = root.at("reported_by_agent");
  record.reported.input_tokens = used.at("input_tokens").get<std::int64_t>();
  record.reported.cached_tokens = used.at("cached_tokens").get<std::int64_t>();
  record.reported.output_tokens = used.at("output_tokens").get<std::int64_t>();
  record.reported.cost = used.at("cost").get<double>();
  const json &tokens = root.at("token_budget"), &money = root.at("money_budget");
  if (!tokens.is_null()) record.limits.tokens = tokens.get<std::int64_t>();
  if (!money.is_null()) record.limits.money = money.get<double>();
}

// Throws json::exception where a field is missing or has another type.
SessionRecord from_json(const json& root) {
  const auto optional = [&](const char* key) {
    return root.at(key).is_null() ? std::nullopt : std::optional(root.at(key).get<double>());
  };
  SessionRecord record;
  record.number = root.at("number").get<int>();
  record.kernel = root.at("kernel").get<std::string>();
  record.architecture = root.at("architecture").get<std::string>();
  record.key = root.at("key").get<std::string>();
  record.started = root.at("started").get<std::string>();
  record.limits = {root.at("rounds").get<int>(),
                   root.at("time_budget_s").get<int>(),
                   root.at("min_gain").get<double>(),
                   optional("goal_speedup"),
                   std::nullopt,
                   std::nullopt};
  record.device = root.at("device").get<std::string>();
  record.flags = root.at("flags").get<std::string>();
  for (const json& one : root.at("baseline_times")) {
    const double time = one.at("baseline_ns").get<double>();
    record.baseline_times.push_back({one.at("case").get<std::string>(), one.at("weight").get<double>(), time, time});
  }
  record.parent = root.at("parent").get<std::string>();
  record.second_parent = root.at("second_parent").get<std::string>();
  record.rounds_done = root.at("rounds_done").get<int>();
  record.used_s = root.at("used_s").get<double>();
  record.best_after_round = root.at("best_after_round").get<std::vector<double>>();
  record.failed = root.at("failed").get<std::vector<bool>>();
  record.trials = root.at("trials").get<int>();
  record.exchanges = root.at("exchanges").get<int>();
  read_reports(root, record);
  record.accepted = root.at("accepted").get<std::vector<std::string>>();
  record.accepted_ratio = root.at("accepted_ratio").get<double>();
  record.roofline_share = optional("roofline_share");
  record.stopped = root.at("stopped").get<std::string>();
  record.finished = root.at("finished").get<std::string>();
  return record;
}

}  // namespace

fs::path sessions_folder(const fs::path& state_folder, const std::string& kernel, const std::string& architecture) {
  return state_folder / "sessions" / kernel / architecture;
}

fs::path session_folder(const fs::path& sessions, int number) {
  return sessions / fmt::format("{:03}", number);
}

Result<void> write_session(const fs::path& sessions, const SessionRecord& record) {
  const fs::path folder = session_folder(sessions, record.number);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return failure(folder.string() + ": " + error.message(), "make the folder writable");
  return util::write_file_atomically(folder / "session.json",
                                     to_json(record).dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

Result<std::optional<SessionRecord>> newest_session(const fs::path& sessions) {
  int newest = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sessions, error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
    if (read.ec == std::errc() && read.ptr == name.data() + name.size() && fs::exists(entry.path() / "session.json"))
      newest = std::max(newest, number);
  }
  if (newest == 0) return std::optional<SessionRecord>{};
  const fs::path file = session_folder(sessions, newest) / "session.json";
  auto text = util::read_file(file);
  if (!text) return std::unexpected(text.error());
  const std::string fix = "move that folder away; kagent agent brief then opens a new session";
  try {
    const json root = json::parse(*text);
    if (root.at("format") != kFormat) return failure("'" + file.string() + "' has the format of another kagent", fix);
    return std::optional(from_json(root));
  } catch (const json::exception& broken) {
    return failure("'" + file.string() + "', a session, is damaged: " + util::clean(broken.what(), 300), fix);
  }
}

Result<void> write_brief(const fs::path& sessions, const SessionRecord& record, const std::string& system,
                         const std::string& text) {
  const fs::path folder = session_folder(sessions, record.number);
  if (auto done = util::write_file_atomically(folder / "system.txt", system); !done) return done;
  return util::write_file_atomically(folder / "brief.txt", text);
}

Result<void> record_exchange(const fs::path& sessions, SessionRecord& record, const std::string& model,
                             const std::string& answer, const std::optional<Usage>& reported) {
  using namespace proposer::model;
  const fs::path folder = session_folder(sessions, record.number);
  ChatRequest shown;
  shown.messages = {{Author::system, util::read_file(folder / "system.txt").value_or(""), true},
                    {Author::user, util::read_file(folder / "brief.txt").value_or(""), false}};
  ChatReply reply;
  reply.text = util::clean(answer, answer.size());
  reply.model = model;
  reply.usage = reported.value_or(Usage{});
  reply.usage_reported = reported.has_value();
  // An agent drafts: so a replay can answer with what it wrote.
  const Exchange exchange{++record.exchanges, "draft", model, util::utc_now(), std::move(shown), std::move(reply)};
  return util::write_file_atomically(folder / fmt::format("exchange-{:03}.json", record.exchanges),
                                     to_json(exchange, {}));
}

}  // namespace kagent::loop
